#include "learning/products.hpp"

#include <oneapi/dnnl/dnnl.h>

#include <stdexcept>

#include "learning/one_thread.hpp"

namespace rubato {

namespace {

// Measured: below this, taking the matrices apart for the kernels costs more than the kernels gain.
constexpr Index fewest_multiplications = Index{3} << 19;

}  // namespace

template <>
bool multiply_large(const ProductSize& size, float scale, Factor<float> a, Factor<float> b, float keep, float* out) {
  if (size.rows * size.columns * size.depth < fewest_multiplications) return false;
  const OneThread one_thread;
  const Index a_stride = a.is_transposed ? size.rows : size.depth, b_stride = b.is_transposed ? size.depth : size.columns;
  const dnnl_status_t status = dnnl_sgemm(a.is_transposed ? 'T' : 'N', b.is_transposed ? 'T' : 'N', size.rows, size.columns,
                                          size.depth, scale, a.numbers, a_stride, b.numbers, b_stride, keep, out, size.columns);
  if (status != dnnl_success) throw std::runtime_error("oneDNN could not multiply two matrices");
  return true;
}

template <>
bool multiply_large(const ProductSize&, double, Factor<double>, Factor<double>, double, double*) {
  return false;
}

}  // namespace rubato
