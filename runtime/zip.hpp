// Zip archives whose members are stored as they are: what numpy.load reads as .npz.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rubato {

/// A file of an archive: its name and its bytes.
using ZipMember = std::pair<std::string, std::string>;

/// The bytes of an archive of these members, below 4 GiB in all. They are the same for the same members: every date is the
/// format's first day.
std::string zip(const std::vector<ZipMember>& members);

/// The members of an archive that zip() has made. Throws std::invalid_argument for anything else.
std::vector<ZipMember> unzip(std::string_view archive);

}  // namespace rubato
