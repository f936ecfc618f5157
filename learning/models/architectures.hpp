// Architectures: the models that the clients of a run have, where they are not all alike.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "learning/learner.hpp"
#include "learning/model.hpp"

namespace rubato {

/// Models that make vectors of one dimension, so that clients may have any of them: numbers beyond those of a model are 0.
template <class Real>
using Architectures = std::vector<std::shared_ptr<const Model<Real>>>;

/// The same models, of which the smaller ones are followed by zeros up to the dimension of the largest.
template <class Real>
Architectures<Real> padded(Architectures<Real> models);

/// See Learner::cut. The parameters at the output are those of the model without the zeros behind it.
template <class Real>
Cut cut_of(const Model<Real>& model, std::string_view layer, std::uint32_t architecture);

}  // namespace rubato
