// What is done to a data set between its files and its use: a test part is split off, features are normalised.
#pragma once

#include "learning/data/dataset.hpp"
#include "learning/options.hpp"

namespace rubato {

/// Moves round(share * rows) rows of the training part to the test part, which must be empty: the last ones, or drawn
/// by Stream(seed, no_client, Purpose::split), each part in the order of the rows. Both keep at least one row; fewer
/// than two rows are refused with std::invalid_argument.
template <class Real>
void split_off_test(Dataset<Real>& dataset, double share, bool shuffle, std::uint64_t seed);

/// Every feature that is NaN becomes the mean of its column over the training rows. Throws std::invalid_argument where these have
/// none.
template <class Real>
void fill_missing(Dataset<Real>& dataset);

/// `usual` stands for `usually`. `are_pixels`: the files have bytes, of which 255 is the largest; whole numbers from 0
/// to 255 that a text has are no pixels, though they are stored as bytes. Bytes stay bytes.
/// `clip` > 0 cuts what is beyond so many deviations off; throws std::invalid_argument where features are not `standard`.
template <class Real>
void normalise(Dataset<Real>& dataset, Normalise how, Normalise usually, bool are_pixels, double clip = 0);

}  // namespace rubato
