// The style and the script of the HTML report, as the build made them from reports/html/page/.
#pragma once

#include <string_view>

namespace plumb {

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;     // empty: charts were not built in
extern const std::string_view kPageScriptHash; // "sha256-..." for the page's content security policy

} // namespace plumb
