// Which programs ran under which pid, and when. The shim and the recorder both tell of a process: here the two
// accounts become one. A pid that executes another program, or that the system gives out again, has several images;
// whatever is known of a pid at some time belongs to the image that ran then.
//
// A pid means something in one PID namespace of one host only: containers on a node use the same small ones. A process
// below its recorder's namespace has two: the recorder's files have the one, the shim's the other.
#pragma once

#include "model/run.h"
#include "trace/context/file_context.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace plumb::trace {

class ProcessImages {
  public:
    static constexpr uint32_t kNone = UINT32_MAX;
    struct Key {
        size_t host = 0;
        uint64_t pid_namespace = 0;
        uint32_t pid = 0;
        auto operator<=>(const Key&) const = default;
    };

    // First, what each file says...
    void seen(const ProcessSeen& record, const FileContext& context); // the recorder
    void started(const ProcessStart& record, const FileContext& context, size_t file, bool file_closed); // the shim

    // ...then the processes are made, in order of their begin...
    void settle(std::vector<model::Process>& processes, const std::vector<model::Host>& hosts);

    // ...and can be looked up: the image of a pid, of either namespace, that ran at `time_ns` (the first one for earlier
    // times); kNone: no file tells of that pid.
    uint32_t find(const Key& key, uint64_t time_ns) const;
    uint32_t parent_of(uint32_t process, uint64_t time_ns) const { return find(parent_[process], time_ns); }
    // The process that the shim's file number `file` is about; kNone: it does not say.
    uint32_t process_of(size_t file) const;
    // Begun by fork, known to the recorder alone, and followed by an exec: no program of its own, unless something
    // was recorded in it.
    bool is_interlude(uint32_t process) const { return interlude_[process]; }
    bool began_by_exec(uint32_t process) const { return by_exec_[process]; }

  private:
    struct Image {
        uint64_t begin_ns = 0;
        bool by_exec = false;
        bool from_shim = false;
        bool interlude = false;
        size_t file = 0; // of the shim
        Key key = {}, parent = {}; // as the file has them
        Key inner = {};            // pid 0: it is in its recorder's namespace, as far as is known
        model::Process process;
    };
    static std::vector<Image> merge(std::vector<Image> seen, std::vector<Image> started);
    static void settle_inner(std::vector<Image>& seen);
    void enter(const Key& key, uint64_t begin_ns, uint32_t process, std::vector<model::Process>& processes);

    std::map<Key, std::vector<Image>> seen_, started_;
    std::map<Key, std::vector<std::pair<uint64_t, uint32_t>>> settled_; // begin and process, by time
    std::map<size_t, uint32_t> process_of_file_;
    std::vector<bool> interlude_, by_exec_; // by process
    std::vector<Key> parent_;               // by process
};

} // namespace plumb::trace
