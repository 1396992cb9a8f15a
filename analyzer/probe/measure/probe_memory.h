// The memory that the CPUs are measured with.
#pragma once

#include "platform/cpu_paths.h"
#include "probe/measure/arena.h"
#include "probe/measure/crew.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace plumb::probe {

struct MemberMemory {
    std::unique_ptr<Arena> ring; // in the inner cache
    Arena* arena = nullptr;      // larger than the last cache; of all CPUs that share one
    uint64_t read_offset = 0;
};

class ProbeMemory {
  public:
    // Members of the crew, in the order of `paths`, fill it: each touches its own. An arena for each last cache, and, unless
    // `is_short`, one for each other NUMA node and one with small pages. Throws Error when there is not enough memory.
    ProbeMemory(Crew& crew, const std::vector<platform::CpuPath>& paths, bool is_short);

    MemberMemory& at(size_t member) { return members_[member]; }
    const std::map<int, Arena*>& of_nodes() const { return of_nodes_; } // the first of each
    Arena* small_pages() const { return small_pages_.get(); }           // on the node of the first member
    void move_small_pages(); // to other ones; as many are left behind as there is room for

  private:
    void fill(Crew& crew, const std::vector<platform::CpuPath>& paths);

    std::vector<MemberMemory> members_;
    std::map<int, std::unique_ptr<Arena>> arenas_; // by last cache
    std::vector<std::unique_ptr<Arena>> other_arenas_;
    std::unique_ptr<Arena> small_pages_;
    std::map<int, Arena*> of_nodes_;
};

} // namespace plumb::probe
