#include "platform/linked_libraries.h"

#include "platform/elf_image.h"
#include "platform/read_file.h"

#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace plumb::platform {

namespace {

// What `arguments` print on their standard output, if they exit with 0.
std::string output_of(const std::vector<std::string>& arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> words;
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    pid_t pid = -1;
    const int failed = posix_spawn(&pid, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got; failed == 0 && ((got = read(ends[0], buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR));)
        text.append(buffer, got > 0 ? static_cast<size_t>(got) : 0);
    close(ends[0]);
    int status = -1;
    if (failed != 0)
        return "";
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? text : "";
}

} // namespace

std::vector<std::string> linked_libraries(const std::string& program) {
    const auto image = read_elf_image(program);
    if (!image || !image->is_native() || image->interpreter.empty())
        return {};
    const std::string text = output_of({image->interpreter, "--list", program});
    std::vector<std::string> libraries;
    std::string_view rest = text;
    while (!rest.empty()) {
        // "\tlibm.so.6 => /lib/libm.so.6 (0x...)", or "\t/lib/ld.so (0x...)"
        std::string_view line = next_line(rest);
        const size_t arrow = line.find(" => ");
        if (arrow != std::string_view::npos)
            line.remove_prefix(arrow + 4);
        const size_t address = line.rfind(" (0x");
        const size_t begin = line.find_first_not_of(" \t");
        if (address != std::string_view::npos && begin < address && line[begin] == '/')
            libraries.emplace_back(line.substr(begin, address - begin));
    }
    return libraries;
}

} // namespace plumb::platform
