#include "synthetic_memory.h"

namespace plumb::synthetic {

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMiB = 1 << 20, kNodeBytes = 1024 * kMiB;
constexpr uint64_t kBlocks = 0x7f0000000000, kBlockBytes = 64 * kMiB;
constexpr uint64_t kRead = 0x10000 + 12, kTouch = 0x10000 + 21;

void add_traffic(model::Process& process, uint64_t begin_ns, int thread, int page_node, uint64_t start, uint64_t bytes,
                 uint64_t samples) {
    model::MemoryTraffic traffic;
    traffic.thread = static_cast<uint32_t>(thread);
    traffic.instruction = kRead;
    traffic.kind = {.width = 8, .load = true};
    traffic.cpu_node = thread;
    traffic.page_node = page_node;
    traffic.samples = samples;
    traffic.time_ns = samples * 1'000'000;
    traffic.lowest_address = start;
    traffic.highest_address = traffic.last_address = start + bytes - 8;
    traffic.first_ns = begin_ns + kSecond;
    traffic.last_ns = begin_ns + 3 * kSecond;
    process.memory.traffic.push_back(traffic);
    process.memory.epochs.push_back({.thread = traffic.thread, .cpu_node = thread, .page_node = page_node,
                                     .begin_ns = traffic.first_ns, .end_ns = traffic.last_ns, .samples = samples,
                                     .time_ns = traffic.time_ns});
}

void add_touch(model::Process& process, uint64_t begin_ns, int thread, uint64_t start, uint64_t bytes) {
    model::FirstTouch touch;
    touch.thread = static_cast<uint32_t>(thread);
    touch.instruction = kTouch;
    touch.cpu_node = touch.page_node = thread;
    touch.samples = touch.faults = bytes / 4096;
    touch.lowest_address = start;
    touch.highest_address = start + bytes - 4096;
    touch.first_ns = touch.last_ns = begin_ns + kSecond / 2;
    process.memory.touches.push_back(touch);
}

void add_object(model::Process& process, uint64_t begin_ns, int number, int nodes) {
    const uint64_t start = kBlocks + static_cast<uint64_t>(number) * kBlockBytes;
    const uint64_t part = kBlockBytes / static_cast<uint64_t>(nodes);
    // Call sites apart, so that each object has a name of its own.
    process.paths.push_back({0, 0x10000 + 101 + static_cast<uint64_t>(number), false, false, false});
    process.memory.blocks.push_back({.start = start, .bytes = kBlockBytes, .from_ns = begin_ns,
                                     .path = static_cast<uint32_t>(process.paths.size() - 1), .by_allocator = true});
    const bool spread = number % 3 == 2, own_parts = number % 3 != 0;
    if (!spread)
        add_touch(process, begin_ns, 0, start, kBlockBytes);
    for (int thread = 0; thread < nodes; ++thread) {
        const uint64_t from = own_parts ? start + part * static_cast<uint64_t>(thread) : start;
        if (spread)
            add_touch(process, begin_ns, thread, from, part);
        add_traffic(process, begin_ns, thread, spread ? thread : 0, from, own_parts ? part : kBlockBytes,
                    100 + static_cast<uint64_t>(200 - number));
    }
}

} // namespace

void add_memory_nodes(model::Run& run, int nodes, int objects) {
    model::Host& host = run.hosts[0];
    model::Process& process = run.processes[0];
    process.modules[0].end = 0x20000;
    for (int node = 0; node < nodes; ++node) {
        std::vector<int> distances(static_cast<size_t>(nodes), 21);
        distances[static_cast<size_t>(node)] = 10;
        host.nodes.push_back({node, kNodeBytes, {node}, distances});
        for (uint64_t tenth = 0; tenth <= 40; ++tenth) {
            model::NodeMemory memory;
            memory.node = node;
            memory.time_ns = run.begin_ns + tenth * kSecond / 10;
            memory.total_bytes = kNodeBytes;
            memory.file_bytes = (node == 0 ? 600 - 10 * tenth : 50) * kMiB;
            memory.anonymous_bytes = (node == 0 ? 100 + 9 * tenth : 100) * kMiB;
            memory.free_bytes = kNodeBytes - memory.file_bytes - memory.anonymous_bytes - 40 * kMiB;
            host.memory.push_back(memory);
        }
        if (node > 0) {
            process.threads.push_back(process.threads[0]);
            process.threads.back().tid += static_cast<uint32_t>(node);
        }
    }
    for (int number = 0; number < objects; ++number)
        add_object(process, run.begin_ns, number, nodes);
}

} // namespace plumb::synthetic
