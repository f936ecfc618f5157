// The keys of a law from which a number is drawn.
#include "experiment/file/fields.hpp"

namespace rubato::config {

Fields<Law> rows_of(const Law*) {
  return table<Law>(
      "law", {
                 required("law", &Law::law, "the law"),
                 required("value", &Law::value, "the number itself").with("law=constant"),
                 required("mean", &Law::mean, positive, "mean of the drawn number").with("law=exponential|lognormal"),
                 required("sigma", &Law::sigma, not_negative, "standard deviation of its logarithm").with("law=lognormal"),
                 required("low", &Law::low, "smallest number").with("law=uniform"),
                 required("high", &Law::high, "largest number").with("law=uniform"),
                 required("a", &Law::a, positive, "first exponent; numbers lie between 0 and 1").with("law=beta"),
                 required("b", &Law::b, positive, "second exponent").with("law=beta"),
                 required("shape", &Law::shape, positive, "shape").with("law=gamma"),
                 required("rate", &Law::rate, positive, "rate; the mean of gamma is shape / rate, of shifted_exp min + 1 / rate")
                     .with("law=gamma|shifted_exp"),
                 required("min", &Law::min, "smallest number").with("law=shifted_exp"),
                 required("values", &Law::values, "one number per client; of a delay: taken in turn").with("law=list"),
             });
}

}  // namespace rubato::config
