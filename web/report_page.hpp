// The pages before they are filled: {{title}}, {{style}}, {{data}}, {{script}} and, for a run, {{experiment}} are their
// gaps. A page's script stands behind plot_script.
#pragma once

#include <string_view>

namespace rubato::web {

extern const std::string_view page_html;
extern const std::string_view page_style;
extern const std::string_view page_script;
extern const std::string_view plot_script;
extern const std::string_view comparison_html;
extern const std::string_view comparison_script;

}  // namespace rubato::web
