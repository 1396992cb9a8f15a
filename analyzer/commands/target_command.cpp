#include "commands/target_command.h"

#include "support/error.h"

#include <cstring>

namespace plumb {

namespace {
std::vector<std::string> after_dashes;
bool found_dashes = false;
} // namespace

int set_aside_target(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") == 0) {
            found_dashes = true;
            after_dashes.assign(argv + i + 1, argv + argc);
            return i;
        }
    }
    return argc;
}

void declare_target(CLI::App& subcommand) {
    subcommand.prefix_command();
    subcommand.footer("The program and its arguments follow the options, best after \"--\".");
}

std::vector<std::string> target_of(const CLI::App& subcommand) {
    std::vector<std::string> target = subcommand.remaining();
    // A "--" behind the first word of the program belongs to the program.
    if (found_dashes && !target.empty())
        target.push_back("--");
    target.insert(target.end(), after_dashes.begin(), after_dashes.end());
    if (target.empty())
        throw Error("no program to run: plumb " + subcommand.get_name() + " [options] -- program [arguments]");
    return target;
}

} // namespace plumb
