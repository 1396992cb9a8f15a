// A title is a sentence: it begins with a capital letter also where a name in lower case ("the memory allocated at ...")
// comes first. What is quoted or begins with another character stays as it is.
#pragma once

#include <string>
#include <utility>

namespace plumb {

inline std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

} // namespace plumb
