#include "record/run/executable.h"

#include "platform/elf_image.h"
#include "platform/read_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace plumb::record {

namespace {

bool is_executable_file(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The first file of this name in the folders of PATH that `is_wanted`; empty: none.
std::string search_path(const std::string& program, bool (*is_wanted)(const std::string& path)) {
    const char* variable = getenv("PATH");
    std::string_view rest = variable ? variable : "/bin:/usr/bin";
    while (true) {
        const size_t colon = rest.find(':');
        const std::string folder(rest.substr(0, colon));
        const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
        if (is_wanted(candidate))
            return candidate;
        if (colon == std::string_view::npos)
            return "";
        rest.remove_prefix(colon + 1);
    }
}

// The interpreter a script names on its first line; empty: not a script.
std::string script_interpreter(const std::string& path) {
    const std::string head = platform::read_file(path, 256).value_or("");
    if (!head.starts_with("#!"))
        return "";
    std::string_view line = std::string_view(head).substr(2);
    line = line.substr(0, line.find('\n'));
    return std::string(platform::next_word(line));
}

} // namespace

Executable find_executable(const std::string& program) {
    Executable found;
    if (program.find('/') == std::string::npos)
        found.path = search_path(program, is_executable_file);
    else if (is_there(program))
        found.path = program;
    std::string image_path = found.path;
    for (int depth = 0; depth < 5; ++depth) { // the kernel's own limit of nested interpreters
        const std::string interpreter = script_interpreter(image_path);
        if (interpreter.empty())
            break;
        image_path = interpreter;
    }
    struct stat info {};
    if (image_path.empty() || stat(image_path.c_str(), &info) != 0)
        return found;
    found.image = image_path;
    const bool capable = getxattr(image_path.c_str(), "security.capability", nullptr, 0) > 0;
    found.is_privileged = (info.st_mode & (S_ISUID | S_ISGID)) || capable;
    if (const auto image = platform::read_elf_image(image_path)) {
        found.is_foreign = !image->is_native();
        found.is_static = !image->has_interpreter;
        found.can_preload = image->is_native() && image->has_interpreter;
    }
    if (found.is_foreign)
        found.description = image_path + " is built for another architecture or word size";
    else if (found.is_static)
        found.description = image_path + " is statically linked";
    else if (found.is_privileged)
        found.description = image_path + " runs with more privileges than you have, so the loader ignores preloads";
    return found;
}

ExecFailure explain_exec_failure(const std::string& program, int error) {
    const std::string tried = "cannot run '" + program + "': ";
    struct stat info {};
    const bool exists = stat(program.c_str(), &info) == 0;
    const bool with_path = program.find('/') != std::string::npos;
    if (error == ENOENT && with_path && exists) {
        // The file is there, so what it needs to start is not.
        std::string missing = script_interpreter(program);
        if (missing.empty())
            if (const auto image = platform::read_elf_image(program))
                missing = image->interpreter;
        return {tried + "it needs " + (missing.empty() ? "an interpreter" : missing) + ", which does not exist", 127};
    }
    // EACCES without such a file: PATH names a folder that may not be searched (another user's).
    if (error == ENOENT || (error == EACCES && !with_path && search_path(program, is_there).empty()))
        return {tried + (with_path ? "no such file" : "not found in PATH; a program in this folder is named ./" + program),
                127};
    if (with_path && exists && S_ISDIR(info.st_mode))
        return {tried + "it is a directory", 126};
    if (error == EACCES)
        return {tried + "permission denied; check that it is executable (chmod +x) and that its file system is not mounted "
                        "noexec",
                126};
    if (error == ENOEXEC)
        return {tried + "it is neither a program for this machine nor a script", 126};
    if (error == E2BIG)
        return {tried + "its arguments and environment are larger than the system allows", 126};
    return {tried + strerror(error), 126};
}

} // namespace plumb::record
