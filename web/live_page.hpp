// The page that a server sends: it has no data of its own and fetches them.
#pragma once

#include <string>
#include <string_view>

namespace rubato::web {

/// What the page may load and reach, as a server says in its header.
inline constexpr std::string_view live_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The same for every run.
const std::string& live_page();

}  // namespace rubato::web
