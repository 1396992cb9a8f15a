// Processes and their images, from inside and from outside, and the modules mapped into them.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

struct ProcessStart {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t parent_pid;      // 12
    uint64_t time_ns;         // 16
    StringId executable;      // 24  path as /proc/PID/exe names it
    StringId command_line;    // 28  arguments separated by NUL
    StringId working_directory; // 32
    int32_t rank;             // 36  from the launcher's environment, -1: none
    int32_t rank_count;       // 40  -1: none
    int32_t local_rank;       // 44  -1: none
    StringId launcher;        // 48  "openmpi", "hydra", "slurm", "pmix"
    uint32_t flags;           // 52  ProcessStartFlags
};
static_assert(sizeof(ProcessStart) == 56);
enum ProcessStartFlags : uint32_t {
    kStartForked = 1u << 0, // this image began by fork without exec
};

// none: an exec that was recorded as the end and then failed: the record does not count.
enum class EndKind : uint32_t { none = 0, exit = 1, quick_exit = 2, exec = 3, abort = 4 };

struct ProcessEnd {
    RecordHeader header;
    uint64_t time_ns; //  8
    uint32_t kind;    // 16  EndKind
    int32_t status;   // 20  exit status, 0 for exec
};
static_assert(sizeof(ProcessEnd) == 24);

enum ModuleFlags : uint32_t {
    kModuleMain = 1u << 0,      // the program itself
    kModuleDeleted = 1u << 1,   // its file was deleted or replaced
    kModuleAnonymous = 1u << 2, // no file: code made at run time
    kModuleVdso = 1u << 3,
    kModuleKernel = 1u << 4,
};

// One executable mapping of one process (a library may have several).
struct ModuleLoad {
    RecordHeader header;     //     header.tid 0
    uint32_t id;             //  8
    uint32_t pid;            // 12
    uint64_t time_ns;        // 16  when it appeared
    Address start;           // 24
    Address end;             // 32  first address behind it
    uint64_t file_offset;    // 40  of `start`
    uint64_t device;         // 48  major << 32 | minor
    uint64_t inode;          // 56
    uint8_t build_id[20];    // 64
    uint8_t build_id_size;   // 84  bytes, 0: none known
    uint8_t padding[3];      // 85
    StringId path;           // 88
    uint32_t flags;          // 92  ModuleFlags
};
static_assert(sizeof(ModuleLoad) == 96);

struct ModuleUnload {
    RecordHeader header;
    uint32_t id;      //  8  ModuleLoad::id
    uint32_t pid;     // 12
    uint64_t time_ns; // 16
};
static_assert(sizeof(ModuleUnload) == 24);

struct ProcessSeen {
    RecordHeader header;
    uint32_t pid;          //  8
    uint32_t parent_pid;   // 12
    uint64_t time_ns;      // 16  of fork, or of exec for a later image of the same pid
    StringId executable;   // 24  0: not yet known (fork)
    StringId command_line; // 28  arguments separated by NUL, 0: not recorded
    StringId name;         // 32  comm
    uint32_t flags;        // 36  ProcessSeenFlags
    uint64_t pid_namespace; // 40  its own one, if that is below the writer's and was read in time, else 0; since 1.4
    uint32_t inner_pid;    // 48  its pid there; in the shim's file it has that one
    uint32_t padding;      // 52
};
static_assert(sizeof(ProcessSeen) == 56);
enum ProcessSeenFlags : uint32_t {
    kSeenExec = 1u << 0,       // this record is about an exec
    kSeenStatic = 1u << 1,     // statically linked: the shim cannot be inside
    kSeenForeign = 1u << 2,    // another architecture or word size
    kSeenPrivileged = 1u << 3, // setuid, setgid or file capabilities: the loader ignores preloads
    kSeenDormant = 1u << 4,    // a shell or launcher, or excluded: only its children matter
};

struct ProcessGone {
    RecordHeader header;
    uint32_t pid;      //  8
    int32_t status;    // 12  wait status where known (children of the recorder), else -1
    uint64_t time_ns;  // 16
    uint64_t user_ns;  // 24  CPU time where known, else 0
    uint64_t system_ns; // 32
    uint64_t max_rss_bytes; // 40
};
static_assert(sizeof(ProcessGone) == 48);

} // namespace plumb::trace
