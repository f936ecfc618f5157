// The report's page before it is filled: {{title}}, {{experiment}}, {{style}}, {{data}} and {{script}} are its gaps.
#pragma once

#include <string_view>

namespace rubato::web {

extern const std::string_view page_html;
extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace rubato::web
