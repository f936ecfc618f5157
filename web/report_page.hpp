// The page before it is filled, and the bundle that fills it in the browser (tools/page makes it from web/page). The gaps of the
// page are {{policy}}, {{title}}, {{style}}, {{licences}}, {{experiment}}, {{data}} and {{script}}.
#pragma once

#include <string_view>

namespace rubato::web {

extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view page_licences;

}  // namespace rubato::web
