#include "record/run/unrecorded.h"

#include "record/run/executable.h"
#include "record/run/target_environment.h"
#include "support/error.h"
#include "support/start_up_memory.h"

#include <algorithm>
#include <alloca.h>
#include <cerrno>
#include <cstdlib>
#include <plumb/environment.h>
#include <unistd.h>

namespace plumb::record {

void run_unrecorded(const Options& options, const Inheritance& inheritance, const std::string& why) {
    const Executable executable = find_executable(options.command[0]);
    if (!executable.path.empty()) {
        // In one write, and not through stdio, which throws or raises a signal where stderr is full or closed.
        std::string line = "plumb: the program runs unrecorded: " + why;
        std::ranges::replace_if(line, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' '); // names of files may hold any
        line += '\n';
        [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    }
    for (const auto& [name, value] : options.environment)
        setenv(name.c_str(), value.c_str(), 1);
    unsetenv(environment::kRunDirectory);
    if (options.environment.contains(environment::kPinList) && executable.can_preload) {
        const std::string shim = find_shim();
        const char* others = getenv("LD_PRELOAD");
        if (!shim.empty() && shim.find_first_of(" :") == std::string::npos)
            setenv("LD_PRELOAD", (others && *others ? shim + ":" + others : shim).c_str(), 1);
    } else if (options.prepare_child) {
        options.prepare_child(getpid());
    }
    std::vector<char*> arguments;
    for (const std::string& word : options.command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    inheritance.restore();
    execvp(arguments[0], arguments.data());
    const ExecFailure failure = explain_exec_failure(options.command[0], errno);
    throw Error(failure.text, failure.exit_status);
}

void run_without_memory(const Options& options, const Inheritance& inheritance) noexcept {
    write_words("the program runs unrecorded: there is no memory for plumb");
    auto** const arguments = static_cast<char**>(alloca((options.command.size() + 1) * sizeof(char*)));
    size_t count = 0;
    for (const std::string& word : options.command)
        arguments[count++] = const_cast<char*>(word.c_str());
    arguments[count] = nullptr;
    inheritance.restore();
    become_program(arguments);
    write_words("the program cannot be executed");
    _exit(errno == ENOENT ? 127 : 126);
}

} // namespace plumb::record
