// The pages before they are filled. The gaps of the frame are {{title}}, {{style}}, {{main}}, {{data}} and {{script}}; what a page
// says between header and end is its main, that of a run with a gap for the {{experiment}}. A page's script stands behind
// plot_script.
#pragma once

#include <string_view>

namespace rubato::web {

extern const std::string_view page_frame;
extern const std::string_view report_main;
extern const std::string_view page_style;
extern const std::string_view page_script;
extern const std::string_view plot_script;
extern const std::string_view comparison_main;
extern const std::string_view comparison_script;
extern const std::string_view live_main;
extern const std::string_view live_script;

}  // namespace rubato::web
