// The few file operations that the shim needs, by system call: errno stays what the program left there, and no
// hooked function is passed. Every function returns what the kernel returned: negative error numbers on failure.
// Signal-safe and thread-safe.
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

namespace plumb::shim {

int open_file(const char* path, int flags, mode_t mode = 0); // O_CLOEXEC is added
void close_file(int descriptor);
long read_file(int descriptor, void* to, size_t bytes); // retried when interrupted
int status_of_file(int descriptor, struct stat* status);
int status_of_path(const char* path, struct stat* status);
long read_link(const char* path, char* to, size_t bytes); // NUL-terminated; cut at bytes - 1
int remove_file(const char* path);

// Reads at most bytes - 1 bytes of a small file (of /proc) and terminates them; the length, or negative.
long read_whole_file(const char* path, char* to, size_t bytes);

// Makes the file's blocks [offset, offset + bytes) exist, so that a mapping of them can never raise SIGBUS on a
// full disk. Fails with -EFBIG, and without SIGXFSZ, beyond the process's limit of file sizes. Writes zeros where the file system knows no other way: they must lie behind the file's end.
int reserve_blocks(int descriptor, uint64_t offset, uint64_t bytes);

} // namespace plumb::shim
