// What must hold of everything that is shown, whatever was recorded. Written without the code under test.
#pragma once

#include <string>
#include <string_view>

namespace plumb::fuzz {

// Valid UTF-8 without control characters and without those that turn the direction of text; newlines only where `lines`.
bool is_harmless_text(std::string_view text, bool lines);

// Empty for markup that holds nothing but elements and attributes that the page writes itself, nested as they must be,
// with every other '<', '&' and quote escaped; else what is wrong, and where.
std::string why_not_a_page(std::string_view page);

} // namespace plumb::fuzz
