// The style and the scripts of the HTML report, as the build made them from reports/html/page/.
#pragma once

#include <string_view>

namespace plumb {

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;       // deflated, in base64; empty: charts were not built in
extern const std::string_view kPageUnpack;       // a script that unpacks kPageScript from the element "plumb-script" and runs it
extern const std::string_view kPageScriptHashes; // of both, for the page's content security policy

} // namespace plumb
