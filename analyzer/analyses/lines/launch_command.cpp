#include "analyses/lines/launch_command.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace plumb {

namespace {

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-./=:,+@%^", c); }

std::string shell_word(const std::string& word) {
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain) && word.find('\0') == std::string::npos)
        return word;
    std::string quoted = "'";
    for (char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

} // namespace

std::string shell_line(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words)
        line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

std::string plumb_run_line(const model::Run& run, const std::string& options) {
    if (run.command.empty())
        return {};
    return "plumb run " + options + " -- " + shell_line(run.command);
}

std::string try_allocators_line(const model::Run& run) {
    return run.command.empty() ? std::string() : "plumb try --cure jemalloc,tcmalloc,mimalloc -- " + shell_line(run.command);
}

} // namespace plumb
