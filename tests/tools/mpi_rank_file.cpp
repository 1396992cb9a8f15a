#include "mpi_rank_file.h"

#include "../unit/synthetic_trace.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace plumb::tools {

namespace {

using namespace trace;

constexpr uint64_t kTicks_per_ns = 3;
constexpr uint64_t kMostCollectives = 32'768, kMostMessageEnds = 16'384; // places in a real file
constexpr uint64_t kAllreduceBytes = 8;
constexpr uint32_t kWorld = 1;
constexpr uint64_t kProgram = 0x400000;

uint64_t stride_for(uint64_t events, uint64_t places) {
    return std::bit_ceil(std::max<uint64_t>(1, (events + places - 1) / places));
}

size_t size_class(uint64_t bytes) { return std::min<size_t>(31, static_cast<size_t>(std::bit_width(bytes))); }

class RankFile {
  public:
    RankFile(const MpiTimes& times, const MpiMatrix* matrix, int rank)
        : times_(times), matrix_(matrix), pattern_(times.pattern()), rank_(rank), pid_(1000 + static_cast<uint32_t>(rank)),
          trace_(Writer::process, pid_, host_name(pattern_, rank).c_str()) {}

    std::vector<std::byte>& make() {
        begin();
        for (uint64_t collective = 0; collective < pattern_.collectives; ++collective)
            add_cycle(collective, times_.cycle(rank_, collective));
        end();
        return trace_.bytes();
    }

    std::string name() const { return fmt::format("process-{}-{}.plumb", pid_, kStartTicks); }

  private:
    static constexpr uint64_t kStartTicks = 100'000;
    enum Site { kSendLeft, kSendRight, kReceiveLeft, kReceiveRight, kAllreduce, kSites };

    void begin() {
        trace_.header().opened_ns = kRunBegin_ns;
        trace_.header().opened_unix_ns = kRunBegin_ns + 1'700'000'000'000'000'000;
        trace_.header().pid_start_ticks = kStartTicks;
        ProcessStart start{};
        start.pid = pid_;
        start.parent_pid = 1;
        start.time_ns = kRunBegin_ns;
        start.executable = trace_.text("/opt/bulk/bin/bulk-synchronous");
        start.command_line = start.executable;
        start.rank = rank_;
        start.rank_count = pattern_.ranks;
        start.local_rank = pattern_.place_on_node(rank_);
        start.launcher = trace_.text("slurm");
        trace_.add(start, pid_);
        trace_.add(ThreadStart{.header = {}, .time_ns = kRunBegin_ns, .start_routine = 0, .creator_tid = 0, .creation_path = 0},
                   pid_);
        ModuleLoad module{};
        module.id = 1;
        module.pid = pid_;
        module.time_ns = kRunBegin_ns;
        module.start = kProgram;
        module.end = kProgram + 0x10000;
        module.path = start.executable;
        module.flags = kModuleMain;
        trace_.add(module);
        MpiComm world{};
        world.id = kWorld;
        world.flags = kMpiCommWorld;
        world.group_hash = 1;
        world.rank = rank_;
        world.size = static_cast<uint32_t>(pattern_.ranks);
        world.name = trace_.text("MPI_COMM_WORLD");
        trace_.add(world);
        const NodeId main = trace_.node(0, kProgram + 0x100);
        const StringId send = trace_.text("MPI_Send"), receive = trace_.text("MPI_Recv"), all = trace_.text("MPI_Allreduce");
        for (uint32_t site = 0; site < kSites; ++site) {
            sites_[site].id = site + 1;
            sites_[site].comm = kWorld;
            sites_[site].path = trace_.node(main, kProgram + 0x1000 + 0x40 * site);
            sites_[site].kind = site <= kSendRight     ? uint32_t{kMpiSend}
                                : site < kAllreduce ? uint32_t{kMpiReceive}
                                                    : kMpiCollectiveCall | kMpiSynchronising;
            sites_[site].call = site <= kSendRight ? send : site < kAllreduce ? receive : all;
        }
        collective_stride_ = stride_for(pattern_.collectives, kMostCollectives);
        message_stride_ = pattern_.halo_bytes > 0 ? stride_for(4 * pattern_.collectives, kMostMessageEnds) : 1;
    }

    void add_cycle(uint64_t collective, const Cycle& cycle) {
        double halo_s = 0;
        if (pattern_.halo_bytes > 0) {
            const int peers[2] = {times_.left_of(rank_), times_.right_of(rank_)};
            for (uint32_t side = 0; side < 2; ++side)
                halo_s += add_message(kSendLeft + side, peers[side], collective, cycle.halo.send_s[side],
                                      cycle.halo.send_end_s[side]);
            for (uint32_t side = 0; side < 2; ++side)
                halo_s += add_message(kReceiveLeft + side, peers[side], collective, cycle.halo.receive_s[side],
                                      cycle.halo.receive_end_s[side]);
        }
        count(sites_[kAllreduce], cycle.arrival_s, cycle.end_s, kAllreduceBytes, kAllreduceBytes);
        if (collective % collective_stride_ != 0)
            return;
        MpiCollective record{};
        record.comm = kWorld;
        record.site = sites_[kAllreduce].id;
        record.sequence = collective;
        record.begin_ticks = record.wait_ticks = ticks(cycle.arrival_s);
        record.end_ticks = ticks(cycle.end_s);
        record.gap_ticks = record.begin_ticks - ticks(cycle.begin_s);
        record.gap_mpi_ticks = duration_ticks(halo_s);
        record.root = UINT32_MAX;
        record.bytes = kAllreduceBytes;
        trace_.add(record, pid_);
    }

    // Returns the time of the call. The tag is 0 to the left, and 1 to the right.
    double add_message(uint32_t site, int peer, uint64_t collective, double begin_s, double end_s) {
        const bool sent = site <= kSendRight, to_right = site == kSendRight || site == kReceiveLeft;
        count(sites_[site], begin_s, end_s, sent ? pattern_.halo_bytes : 0, sent ? 0 : pattern_.halo_bytes);
        const auto from = static_cast<uint64_t>(sent ? rank_ : peer);
        const uint64_t sequence = collective + from * 7 + (to_right ? 3 : 0); // both ends begin to count alike
        if (sequence % message_stride_ == 0) {
            MpiMessage record{};
            record.comm = kWorld;
            record.site = record.wait_site = sites_[site].id;
            record.peer = peer;
            record.tag = to_right;
            record.flags = sent ? uint32_t{kMpiMessageSent} : 0;
            record.sequence = sequence;
            record.begin_ticks = record.wait_ticks = ticks(begin_s);
            record.end_ticks = ticks(end_s);
            record.bytes = pattern_.halo_bytes;
            trace_.add(record, pid_);
        }
        return end_s - begin_s;
    }

    void end() {
        uint64_t mpi_ticks = 0;
        for (const MpiSite& site : sites_)
            if (site.calls > 0) {
                trace_.add(site, pid_);
                mpi_ticks += site.ticks;
            }
        if (pattern_.halo_bytes > 0)
            for (const int peer : {times_.left_of(rank_), times_.right_of(rank_)}) {
                add_peer(peer, MpiDirection::sent, pattern_.collectives, pattern_.halo_bytes);
                add_peer(peer, MpiDirection::received, pattern_.collectives, pattern_.halo_bytes);
            }
        if (matrix_)
            for (const int peer : matrix_->partners(rank_)) {
                add_peer(peer, MpiDirection::sent, 1, pattern_.matrix_bytes);
                add_peer(peer, MpiDirection::received, 1, pattern_.matrix_bytes);
            }
        MpiRank rank{};
        rank.library = static_cast<uint32_t>(MpiLibrary::mpich);
        rank.rank = rank_;
        rank.size = pattern_.ranks;
        rank.library_version = trace_.text("made up");
        rank.job = trace_.text("made-up");
        rank.first_ticks = ticks(0);
        rank.first_ns = rank.init_begin_ns = rank.init_end_ns = kRunBegin_ns;
        rank.last_ticks = ticks(times_.elapsed_s());
        rank.last_ns = rank.finalize_begin_ns = rank.finalize_end_ns = kRunBegin_ns + ns(times_.elapsed_s());
        rank.mpi_ticks = mpi_ticks;
        rank.collectives = pattern_.collectives;
        rank.collective_stride = collective_stride_;
        rank.messages = pattern_.halo_bytes > 0 ? 4 * pattern_.collectives : 0;
        rank.message_stride = message_stride_;
        trace_.add(rank, pid_);
        trace_.add(ThreadEnd{.header = {}, .time_ns = rank.last_ns, .cpu_time_ns = ns(times_.elapsed_s())}, pid_);
        trace_.add(ProcessEnd{.header = {}, .time_ns = rank.last_ns, .kind = static_cast<uint32_t>(EndKind::exit), .status = 0},
                   pid_);
        trace_.header().closed_ns = rank.last_ns;
    }

    void add_peer(int peer, MpiDirection direction, uint64_t messages, uint64_t bytes_each) {
        MpiPeer record{};
        record.peer = peer;
        record.direction = static_cast<uint32_t>(direction);
        record.messages = messages;
        record.bytes = messages * bytes_each;
        record.size_histogram[size_class(bytes_each)] = messages;
        trace_.add(record, 0);
    }

    void count(MpiSite& site, double begin_s, double end_s, uint64_t sent, uint64_t received) {
        const uint64_t duration = ticks(end_s) - ticks(begin_s);
        if (site.calls++ == 0)
            site.first_ticks = ticks(begin_s);
        site.timed_calls++;
        site.ticks += duration;
        site.longest_ticks = std::max(site.longest_ticks, duration);
        site.last_ticks = ticks(end_s);
        site.sent_bytes += sent;
        site.received_bytes += received;
        site.size_histogram[size_class(std::max(sent, received))]++;
    }

    static uint64_t ns(double seconds) { return static_cast<uint64_t>(std::llround(seconds * 1e9)); }
    static uint64_t duration_ticks(double seconds) { return ns(seconds) * kTicks_per_ns; }
    // Counters of the hosts do not begin together.
    uint64_t ticks(double seconds) const {
        return static_cast<uint64_t>(pattern_.node_of(rank_) + 1) * 1'000'000'007 + duration_ticks(seconds);
    }

    const MpiTimes& times_;
    const MpiMatrix* matrix_; // may be null
    const MpiPattern& pattern_;
    int rank_;
    uint32_t pid_;
    SyntheticTrace trace_;
    MpiSite sites_[kSites] = {};
    uint64_t collective_stride_ = 1, message_stride_ = 1;
};

} // namespace

std::string host_name(const MpiPattern& pattern, int rank) {
    return fmt::format("node{:05}", pattern.node_of(rank) * pattern.node_step);
}

uint64_t write_rank_file(const std::string& directory, const MpiTimes& times, const MpiMatrix* matrix, int rank) {
    RankFile file(times, matrix, rank);
    const std::vector<std::byte>& bytes = file.make();
    const std::string path = directory + "/" + file.name();
    std::FILE* out = std::fopen(path.c_str(), "we");
    const bool written = out && std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
    if ((out && std::fclose(out) != 0) || !written)
        throw Error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    return bytes.size();
}

} // namespace plumb::tools
