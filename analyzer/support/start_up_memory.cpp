#include "support/start_up_memory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/uio.h>
#include <unistd.h>

namespace plumb {

namespace {

char** arguments = nullptr; // of plumb

[[noreturn]] void without_memory() {
    char** program = nullptr;
    if (arguments && arguments[0] && arguments[1] && std::strcmp(arguments[1], "run") == 0)
        for (char** word = arguments + 2; *word && !program; ++word)
            if (std::strcmp(*word, "--") == 0 && word[1])
                program = word + 1;
    if (program) {
        write_words("the program runs unrecorded: there is no memory for plumb");
        become_program(program);
        write_words("the program cannot be executed");
        _exit(errno == ENOENT ? 127 : 126);
    }
    write_words("there is no memory for plumb");
    _exit(125);
}

__attribute__((constructor(101))) void begin_start_up_memory(int, char** argv, char**) {
    arguments = argv;
    std::set_new_handler(without_memory);
}

} // namespace

void end_start_up_memory() { std::set_new_handler(nullptr); }

void write_words(std::string_view text) {
    constexpr std::string_view kName = "plumb: ", kEnd = "\n";
    const iovec parts[] = {{const_cast<char*>(kName.data()), kName.size()},
                           {const_cast<char*>(text.data()), text.size()},
                           {const_cast<char*>(kEnd.data()), kEnd.size()}};
    [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, parts, 3); // one write: lines of others stay whole
}

void become_program(char** argv) { execvp(argv[0], argv); }

} // namespace plumb
