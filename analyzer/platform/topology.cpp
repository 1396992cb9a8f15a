#include "platform/topology.h"

#include "platform/read_file.h"
#include "support/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <functional>
#include <hwloc.h>
#include <memory>

namespace plumb::platform {

namespace {

struct Destroy {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

// `configure` names the source to hwloc; 0 for success.
Handle load(const std::string& source, const std::function<int(hwloc_topology_t)>& configure) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0)
        throw Error("hwloc could not be initialised: out of memory");
    Handle handle(raw);
    errno = 0;
    if (configure(raw) != 0)
        throw Error(fmt::format("hwloc cannot read the topology of {}: {}", source, std::strerror(errno)));
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(raw) != 0)
        throw Error(fmt::format("hwloc cannot read the topology of {}: {}; it must be an XML file written by "
                                "hwloc 2 (lstopo --of xml)", source, std::strerror(errno)));
    return handle;
}

// hwloc puts a node without CPUs beside the one that is nearest to it, with the CPUs of that. What tells the two
// apart is known to the running kernel alone: it is noted in the object, and so kept in the XML.
constexpr const char* kMemoryOnly = "PlumbMemoryOnly";

void note_memory_only_nodes(hwloc_topology_t handle) {
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(handle, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
        const auto cpus = read_file(fmt::format("/sys/devices/system/node/node{}/cpulist", node->os_index));
        if (cpus && cpus->find_first_not_of(" \n") == std::string::npos)
            hwloc_obj_add_info(node, kMemoryOnly, "1");
    }
}

// The plugins that ask graphics cards take longer than all of the rest, and nothing of them is used. The x86 backend binds
// the calling thread to every CPU in turn; Linux tells the same in /sys.
int leave_out_what_is_slow(hwloc_topology_t handle) {
    for (const char* component : {"gl", "opencl", "cuda", "nvml", "rsmi", "levelzero", "pci"})
        hwloc_topology_set_components(handle, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component); // fails where there is none
    const char* wanted = std::getenv("HWLOC_COMPONENTS"); // the user knows better: /sys is wrong on some machines
    if (!wanted || !*wanted)
        hwloc_topology_set_components(handle, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    return 0;
}

Handle load_this_machine() {
    Handle handle = load("this machine", leave_out_what_is_slow);
    note_memory_only_nodes(handle.get());
    return handle;
}

// Of the nodes near a CPU, the one that the CPU belongs to; -1: the machine does not report it.
int node_of(hwloc_topology_t handle, hwloc_obj_t pu) {
    if (!pu->nodeset)
        return -1;
    unsigned node = 0;
    hwloc_bitmap_foreach_begin(node, pu->nodeset) {
        hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(handle, node);
        if (object && !hwloc_obj_get_info_by_name(object, kMemoryOnly))
            return static_cast<int>(node);
    } hwloc_bitmap_foreach_end();
    return hwloc_bitmap_first(pu->nodeset);
}

int index_of(hwloc_obj_t object) { return object ? static_cast<int>(object->logical_index) : -1; }

// The outermost data cache above the core that is shared with another core; null: every core is on its own.
hwloc_obj_t shared_cache(hwloc_obj_t pu, hwloc_obj_t core) {
    hwloc_obj_t found = nullptr;
    for (hwloc_obj_t up = pu->parent; up; up = up->parent) {
        if (!hwloc_obj_type_is_dcache(up->type))
            continue;
        const bool shared = core && hwloc_bitmap_weight(up->cpuset) > hwloc_bitmap_weight(core->cpuset);
        if (shared || up->type == HWLOC_OBJ_L3CACHE)
            found = up;
    }
    return found;
}

Topology describe(hwloc_topology_t handle, std::string source) {
    Topology topology;
    topology.source = std::move(source);
    topology.package_count = hwloc_get_nbobjs_by_type(handle, HWLOC_OBJ_PACKAGE);
    topology.node_count = hwloc_get_nbobjs_by_type(handle, HWLOC_OBJ_NUMANODE);
    topology.core_count = hwloc_get_nbobjs_by_type(handle, HWLOC_OBJ_CORE);
    for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(handle, HWLOC_OBJ_PU, pu)) != nullptr;) {
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(handle, HWLOC_OBJ_CORE, pu);
        hwloc_obj_t cache = shared_cache(pu, core);
        CpuPlace place;
        place.cpu = static_cast<int>(pu->os_index);
        place.package = index_of(hwloc_get_ancestor_obj_by_type(handle, HWLOC_OBJ_PACKAGE, pu));
        // A machine has more caches than one kind; the depth keeps their numbers apart.
        place.l3 = cache ? index_of(cache) + (cache->depth << 16) : -1;
        place.core = index_of(core);
        place.sibling = core ? static_cast<int>(pu->sibling_rank) : 0;
        place.node = node_of(handle, pu);
        topology.cpus.push_back(place);
    }
    return topology;
}

} // namespace

const CpuPlace* Topology::find(int cpu) const {
    for (const CpuPlace& place : cpus)
        if (place.cpu == cpu)
            return &place;
    return nullptr;
}

Topology live_topology() {
    return describe(load_this_machine().get(), "this machine");
}

Topology topology_from_file(const std::string& xml_file) {
    const auto configure = [&](hwloc_topology_t handle) {
        return hwloc_topology_set_xml(handle, xml_file.c_str());
    };
    return describe(load(fmt::format("'{}'", xml_file), configure).get(), xml_file);
}

Topology topology_from_xml(const std::string& xml) {
    const auto configure = [&](hwloc_topology_t handle) {
        return hwloc_topology_set_xmlbuffer(handle, xml.c_str(), static_cast<int>(xml.size() + 1));
    };
    return describe(load("an XML document", configure).get(), "an XML document");
}

Topology topology_from_synthetic(const std::string& description) {
    const auto configure = [&](hwloc_topology_t handle) {
        return hwloc_topology_set_synthetic(handle, description.c_str());
    };
    return describe(load(fmt::format("'{}'", description), configure).get(), description);
}

std::string live_topology_xml() {
    try {
        const Handle handle = load_this_machine();
        char* xml = nullptr;
        int bytes = 0;
        if (hwloc_topology_export_xmlbuffer(handle.get(), &xml, &bytes, 0) != 0)
            return {};
        std::string copy(xml, bytes > 0 ? static_cast<size_t>(bytes - 1) : 0);
        hwloc_free_xmlbuffer(handle.get(), xml);
        return copy;
    } catch (const Error&) {
        return {};
    }
}

} // namespace plumb::platform
