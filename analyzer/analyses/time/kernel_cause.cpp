#include "analyses/time/kernel_cause.h"

#include "analyses/time/allocator_code.h"
#include "analyses/time/own_time.h"
#include "model/call_paths.h"

#include <array>
#include <vector>

namespace plumb {

namespace {

bool has_prefix(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string_view without_offset(std::string_view function) { return function.substr(0, function.find("+0x")); }

// The kernel's entry of a system call: __x64_sys_read, __ia32_sys_read, __arm64_sys_read, __se_sys_read,
// __do_sys_read, ksys_read.
std::string_view system_call_of_kernel(std::string_view function) {
    for (std::string_view prefix : {"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "ksys_"})
        if (has_prefix(function, prefix))
            return function.substr(prefix.size());
    return {};
}

bool is_fault(std::string_view function) {
    for (std::string_view name : {"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault",
                                  "do_page_fault", "el0_da", "el0_ia"})
        if (function == name)
            return true;
    return false;
}

// arm64, arm, riscv: kernels that carry out what the CPU refuses.
bool is_alignment_fault(std::string_view function) {
    for (std::string_view name : {"do_alignment_fault", "do_compat_alignment_fixup", "do_alignment",
                                  "do_trap_load_misaligned", "do_trap_store_misaligned", "handle_misaligned_load",
                                  "handle_misaligned_store"})
        if (function == name)
            return true;
    return false;
}

// x86: the CPU only refuses when a flag asks for it, which is how the alignment trap works, and the trap gets over the
// instruction by a single step.
bool is_alignment_trap(std::string_view function) {
    for (std::string_view name : {"asm_exc_alignment_check", "exc_alignment_check", "asm_exc_debug", "exc_debug_user",
                                  "noist_exc_debug"})
        if (function == name)
            return true;
    return false;
}

KernelCause plumb_itself() { return {KernelCause::Kind::own, "plumb itself"}; }

bool is_interrupt(std::string_view function) {
    for (std::string_view part : {"asm_sysvec_", "sysvec_", "asm_common_interrupt", "common_interrupt", "el0_irq"})
        if (has_prefix(function, part))
            return true;
    return false;
}

std::string_view tidy_call(std::string_view name) {
    for (std::string_view prefix : {"new", "rt_"})
        if (has_prefix(name, prefix) && name != "newselect")
            name.remove_prefix(prefix.size());
    if (name.size() > 2 && name.substr(name.size() - 2) == "64")
        name.remove_suffix(2);
    return name;
}

// Outermost kernel frame first: a fault inside a system call belongs to the call, an interrupt inside either to them.
KernelCause from_kernel_frames(const std::vector<std::string_view>& outermost_first) {
    for (std::string_view function : outermost_first) {
        if (const std::string_view call = system_call_of_kernel(function); !call.empty())
            return {KernelCause::Kind::system_call, std::string(tidy_call(call))};
        if (is_alignment_fault(function))
            return {KernelCause::Kind::alignment_fault, "unaligned accesses that the kernel emulates"};
        if (is_alignment_trap(function))
            return plumb_itself();
        if (is_fault(function))
            return {KernelCause::Kind::page_fault, "page faults"};
        if (is_interrupt(function))
            return {KernelCause::Kind::interrupt, "interrupts"};
    }
    return {};
}

bool is_c_library(const std::string& module) {
    for (const char* name : {"libc.so", "libc-2", "libpthread", "ld-linux", "ld-musl", "[vdso]"})
        if (module.find(name) != std::string::npos)
            return true;
    return false;
}

// `node` is the innermost user frame. Hooks make system calls for the program, too; what is plumb's are page faults in
// its own code, and the end of its handlers. There the registers may be the interrupted code's again already, which does
// not show whose handler it was: where every unaligned access traps (exact), it was the trap's.
bool is_own(const model::CallPaths& paths, size_t process, uint32_t node, const KernelCause& cause) {
    const bool ends_handler = cause.kind == KernelCause::Kind::system_call && cause.name == "sigreturn";
    if (ends_handler || cause.kind == KernelCause::Kind::page_fault || cause.kind == KernelCause::Kind::unknown)
        if (is_own_code(paths, process, node))
            return true;
    const model::Alignment& alignment = paths.run().processes[process].alignment;
    if (!ends_handler || alignment.mode != model::Alignment::Mode::exact || alignment.hits + alignment.excluded_hits == 0)
        return false;
    const model::Module* module = paths.module_of(process, paths.run().processes[process].paths[node].address);
    return !module || !is_c_library(module->path); // whose __restore_rt ends the program's handlers
}

// `node` is the innermost user frame. Files that a program reads and writes through MPI are its own business.
KernelCause::Maker maker_of(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    KernelCause::Maker maker = KernelCause::Maker::program;
    for (size_t depth = 0; node != 0 && node < nodes.size() && depth < model::kMostFrames; depth++, node = nodes[node].parent) {
        const model::Module* module = paths.module_of(process, nodes[node].address);
        if (!module)
            continue;
        if (model::is_program_code(*module))
            break;
        const bool mpi = model::is_mpi_module(module->path);
        if (mpi)
            maker = KernelCause::Maker::mpi;
        else if (maker == KernelCause::Maker::program && model::is_openmp_module(module->path))
            maker = KernelCause::Maker::openmp;
        if (mpi || model::is_shim_module(module->path))
            for (const model::SourceFrame& frame : paths.frames_of(process, node))
                if (frame.function.find("MPI_File_") != std::string::npos)
                    return KernelCause::Maker::program;
    }
    return maker;
}

KernelCause system_call(model::CallPaths& paths, size_t process, uint32_t node, std::string name) {
    return {KernelCause::Kind::system_call, std::move(name), maker_of(paths, process, node)};
}

} // namespace

std::string system_call_of_wrapper(std::string_view function) {
    std::string_view name = without_offset(function);
    for (std::string_view prefix : {"__GI_", "__libc_", "___libc_", "__"})
        if (has_prefix(name, prefix))
            name.remove_prefix(prefix.size());
    if (has_prefix(name, "libc_"))
        name.remove_prefix(5);
    while (!name.empty() && name.front() == '_')
        name.remove_prefix(1);
    for (std::string_view suffix : {"_nocancel", "_nostatus", "_time64"})
        if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
            name.remove_suffix(suffix.size());
    for (std::string_view prefix : {"lll_lock_", "pthread_", "futex_", "sem_", "pthread_cond_", "new_sem_"})
        if (has_prefix(name, prefix))
            return "futex";
    name = tidy_call(name);
    // Functions of the C library that reach the kernel by themselves; the rest of it (memcpy, qsort, printf) can
    // only fault.
    static constexpr auto kCalls = std::to_array<std::string_view>({
        "accept", "accept4", "access", "bind", "brk", "sbrk", "chdir", "chmod", "chown", "clock_gettime",
        "clock_nanosleep", "clone", "clone3", "close", "connect", "copy_file_range", "dup", "dup2", "epoll_ctl",
        "epoll_pwait", "epoll_wait", "eventfd", "execve", "exit", "faccessat", "fadvise", "posix_fadvise", "fallocate",
        "fchmod", "fcntl", "fdatasync", "flock", "fork", "vfork", "fstat", "fstatat", "fsync", "ftruncate", "getdents",
        "getcwd", "getpid", "getrandom", "getrusage", "gettimeofday", "ioctl", "kill", "link", "listen", "lseek",
        "lstat", "madvise", "mkdir", "mlock", "mmap", "mprotect", "mremap", "msync", "munmap", "nanosleep", "open",
        "openat", "pause", "pipe", "pipe2", "poll", "posix_spawn", "ppoll", "prctl", "pread", "preadv", "pselect",
        "pwrite", "pwritev", "read", "readlink", "readv", "recv", "recvfrom", "recvmmsg", "recvmsg", "rename", "rmdir",
        "sched_getaffinity", "sched_setaffinity", "sched_yield", "select", "send", "sendfile", "sendmmsg", "sendmsg",
        "sendto", "setsockopt", "shutdown", "sigaction", "sigprocmask", "socket", "splice", "stat", "statx", "symlink",
        "sync_file_range", "syscall", "tee", "tgkill", "times", "truncate", "umask", "uname", "unlink", "unlinkat",
        "usleep", "utimensat", "vmsplice", "wait4", "waitid", "waitpid", "write", "writev", "xstat", "fxstat", "lxstat",
    });
    for (std::string_view call : kCalls)
        if (name == call)
            return std::string(name);
    return {};
}

KernelCause kernel_cause_of(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    std::vector<std::string_view> kernel; // innermost first
    for (size_t depth = 0; node != 0 && node < nodes.size() && nodes[node].kernel && depth < model::kMostFrames; depth++) {
        for (const model::SourceFrame& frame : paths.frames_of(process, node))
            kernel.push_back(without_offset(frame.function));
        node = nodes[node].parent;
    }
    KernelCause cause = from_kernel_frames({kernel.rbegin(), kernel.rend()});
    if (node != 0 && node < nodes.size() && is_own(paths, process, node, cause))
        return plumb_itself();
    if (cause.kind == KernelCause::Kind::system_call)
        return system_call(paths, process, node, std::move(cause.name));
    if (cause.kind != KernelCause::Kind::unknown)
        return cause;
    if (node == 0 || node >= nodes.size())
        return {KernelCause::Kind::unknown, "starting and ending programs"};
    const model::SourceFrame& user = paths.frames_of(process, node).back();
    if (is_c_library(user.module)) {
        const std::string call = system_call_of_wrapper(user.function);
        if (!call.empty())
            return system_call(paths, process, node, call);
    }
    return {KernelCause::Kind::page_fault, "page faults"};
}

} // namespace plumb
