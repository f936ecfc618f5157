// All models by name: what they are, what they take, and how large they are. The only list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learning/model.hpp"
#include "learning/models/dense_model.hpp"
#include "learning/network/network.hpp"
#include "learning/options.hpp"
#include "learning/shape.hpp"

namespace rubato {

struct KnownModel {
  std::string_view name;
  std::string_view summary;
  std::string_view keys;               ///< of the experiment file's [model], besides those of all models
  std::vector<std::int64_t> hidden{};  ///< an example, where there is no size without one
  std::vector<std::string> layers{};
};

/// In the order of the documentation.
std::span<const KnownModel> known_models();

/// A model of samples of this shape; classes is 0 where a number is learned.
/// Throws std::invalid_argument: an unknown name lists the known, and what does not fit the data says why.
template <class Real>
std::shared_ptr<const Model<Real>> make_model(const ModelOptions& options, const Shape& shape, std::uint32_t classes);

/// How many parameters a known model has there, with its example where it needs one; none if it does not fit.
std::optional<Index> parameters_of(const KnownModel& model, const Shape& shape, std::uint32_t classes);

}  // namespace rubato
