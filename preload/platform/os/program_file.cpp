#include "platform/os/program_file.h"

#include "platform/os/files.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

namespace plumb::shim {
namespace {

constexpr size_t kHeadBytes = 256; // what the kernel itself reads: the longest line of an interpreter
constexpr int kMaxInterpreters = 5; // the kernel follows as many

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#endif

// The first bytes of the file, terminated; negative: the error.
long read_head(int directory, const char* path, char (&head)[kHeadBytes + 1]) {
    Text<32> link;
    if (!*path && directory >= 0) { // the descriptor may not be one to read from
        link << "/proc/self/fd/" << static_cast<uint64_t>(directory);
        path = link.c_str();
        directory = AT_FDCWD;
    }
    // Not to wait for the other end of a pipe, nor to become a terminal's owner.
    const long file = system_call(SYS_openat, directory, word(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return file;
    const long length = read_file(static_cast<int>(file), head, kHeadBytes);
    close_file(static_cast<int>(file));
    head[length > 0 ? length : 0] = '\0';
    return length;
}

ProgramKind kind_of_elf(const char* head) {
    Elf64_Ehdr header; // e_machine stands at the same place for both classes
    memcpy(&header, head, sizeof header);
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kOwnMachine ? ProgramKind::native
                                                                                       : ProgramKind::foreign;
}

// Cuts the interpreter's path out of a script's first line; null: there is none.
const char* interpreter_in(char* head) {
    char* path = head + 2;
    path += strspn(path, " \t");
    path[strcspn(path, " \t\n")] = '\0';
    return *path ? path : nullptr;
}

} // namespace

ProgramKind kind_of_program(int directory, const char* path) {
    char head[kHeadBytes + 1], interpreter[kHeadBytes + 1];
    for (int followed = 0; followed <= kMaxInterpreters; ++followed) {
        const long length = read_head(directory, path, head);
        if (length >= static_cast<long>(sizeof(Elf64_Ehdr)) && memcmp(head, ELFMAG, SELFMAG) == 0)
            return kind_of_elf(head);
        if (length < 2 || head[0] != '#' || head[1] != '!')
            return ProgramKind::unknown;
        const char* const found = interpreter_in(head);
        if (!found)
            return ProgramKind::unknown;
        path = strcpy(interpreter, found);
        directory = AT_FDCWD;
    }
    return ProgramKind::unknown;
}

ProgramKind kind_of_program_in(const char* search_path, const char* name) {
    if (strchr(name, '/'))
        return kind_of_program(AT_FDCWD, name);
    if (!search_path)
        search_path = "/bin:/usr/bin";
    for (const char* part = search_path;;) {
        const char* const end = strchrnul(part, ':');
        Text<PATH_MAX> path;
        path.append(part, static_cast<size_t>(end - part));
        if (end != part)
            path << "/";
        path << name;
        struct stat status;
        // As execvp() does: what cannot be executed is passed over.
        if (!path.cut() && status_of_path(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            system_call(SYS_faccessat, AT_FDCWD, word(path.c_str()), X_OK) == 0)
            return kind_of_program(AT_FDCWD, path.c_str());
        if (!*end)
            return ProgramKind::unknown;
        part = end + 1;
    }
}

} // namespace plumb::shim
