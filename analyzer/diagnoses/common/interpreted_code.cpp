#include "diagnoses/common/interpreted_code.h"
#include "model/call_paths.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace plumb {

namespace {

struct Interpreter {
    std::string_view name;         // without the version that may follow: "python" of "python3.11"
    std::string_view inline_code;  // letters of options that are followed by code
    std::string_view takes_value;  // letters of options that are followed by a value of another kind
    std::string_view runs_module;  // letters of options that name an installed module instead of a script
};

// Programs whose work is whatever a script says. awk and sed are not among them: they read and write in blocks of their own.
constexpr auto kInterpreters = std::to_array<Interpreter>({
    {"python", "c", "WX", "m"},
    {"pypy", "c", "WX", "m"},
    {"perl", "eE", "", ""},
    {"ruby", "e", "rI", ""},
    {"node", "ep", "r", ""},
    {"lua", "e", "l", ""},
    {"luajit", "e", "l", ""},
    {"php", "r", "cd", ""},
    {"tclsh", "", "", ""},
    {"julia", "eE", "JHptL", ""},
    {"guile", "c", "L", ""},
    {"sh", "c", "o", ""},
    {"bash", "c", "oO", ""},
    {"dash", "c", "o", ""},
    {"zsh", "c", "o", ""},
    {"ksh", "c", "o", ""},
});

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Interpreter* interpreter_of(const model::Process& process) {
    std::string_view name = base_name(process.executable);
    const size_t end = name.find_last_not_of("0123456789.-");
    name = name.substr(0, end == name.npos ? 0 : end + 1);
    const auto found = std::ranges::find(kInterpreters, name, &Interpreter::name);
    return found == kInterpreters.end() ? nullptr : &*found;
}

bool has(std::string_view letters, char letter) { return letters.find(letter) != letters.npos; }

} // namespace

bool interprets_users_code(const model::Run& run, const model::Process& process) {
    const Interpreter* interpreter = interpreter_of(process);
    if (!interpreter)
        return false;
    const std::vector<std::string>& arguments = process.arguments;
    for (size_t i = 1; i < arguments.size(); i++) {
        const std::string_view argument = arguments[i];
        if (argument == "--" && i + 1 < arguments.size())
            return !model::is_packaged_file(arguments[i + 1]);
        if (argument.size() < 2 || argument.front() != '-')
            return argument != "-" && !argument.empty() && !model::is_packaged_file(std::string(argument));
        if (argument[1] == '-')
            continue; // a long option; those that take a value mostly bear it behind "="
        // Letters may stand together ("-uc"); the last one decides what follows.
        const char last = argument.back();
        if (has(interpreter->inline_code, last))
            return arguments == run.command;
        if (has(interpreter->runs_module, last) || has(interpreter->runs_module, argument[1]))
            return false;
        if (argument.size() == 2 && has(interpreter->takes_value, last))
            i++;
    }
    return false; // reads its code from its input
}

} // namespace plumb
