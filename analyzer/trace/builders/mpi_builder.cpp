#include "trace/builders/mpi_builder.h"

#include <algorithm>
#include <cmath>

namespace plumb::trace {

namespace {

// Ticks of a counter between these a nanosecond; anything else is damage, or two moments too close to tell.
constexpr double kLeastTicks_per_ns = 1e-3, kMostTicks_per_ns = 1e2;
constexpr double kMost_ns = 9e18;

model::MpiProcess::Library library_of(uint32_t library) {
    using Library = model::MpiProcess::Library;
    switch (static_cast<MpiLibrary>(library)) {
    case MpiLibrary::open_mpi:
        return Library::open_mpi;
    case MpiLibrary::mpich:
        return Library::mpich;
    case MpiLibrary::standard_abi:
        return Library::standard_abi;
    default:
        return Library::unknown;
    }
}

model::MpiPeer::Direction direction_of(uint32_t direction) {
    using Direction = model::MpiPeer::Direction;
    switch (static_cast<MpiDirection>(direction)) {
    case MpiDirection::received:
        return Direction::received;
    case MpiDirection::put:
        return Direction::put;
    case MpiDirection::got:
        return Direction::got;
    default:
        return Direction::sent;
    }
}

uint64_t duration_ns(uint64_t ticks, const model::MpiProcess& mpi) {
    return static_cast<uint64_t>(std::min(kMost_ns, static_cast<double>(ticks) / mpi.ticks_per_ns));
}

uint64_t moment_ns(uint64_t ticks, const model::MpiProcess& mpi) {
    if (ticks == 0)
        return 0;
    const auto since_origin = static_cast<double>(static_cast<int64_t>(ticks - mpi.origin_ticks)) / mpi.ticks_per_ns;
    const double ns = static_cast<double>(mpi.origin_ns) + since_origin;
    return static_cast<uint64_t>(std::clamp(ns, 0.0, kMost_ns));
}

// Of the two moments that the record holds; 1 where they do not show it.
double ticks_per_ns(const model::MpiProcess& mpi) {
    if (mpi.last_ticks <= mpi.origin_ticks || mpi.last_ns <= mpi.origin_ns)
        return 1;
    const double ratio = static_cast<double>(mpi.last_ticks - mpi.origin_ticks) /
                         static_cast<double>(mpi.last_ns - mpi.origin_ns);
    return ratio >= kLeastTicks_per_ns && ratio <= kMostTicks_per_ns ? ratio : 1;
}

} // namespace

model::MpiProcess& MpiBuilder::mpi() {
    if (!process_.mpi)
        process_.mpi.emplace();
    return *process_.mpi;
}

void MpiBuilder::take(const MpiRank& record, std::string library_version, std::string job, uint64_t clock_shift_ns) {
    model::MpiProcess& mpi = this->mpi();
    if (has_rank_ && record.rank < 0)
        return;
    has_rank_ = true;
    const auto time = [clock_shift_ns](uint64_t file_ns) { return file_ns == 0 ? 0 : file_ns + clock_shift_ns; };
    mpi.library = library_of(record.library);
    mpi.library_version = std::move(library_version);
    mpi.job = std::move(job);
    mpi.size = std::max(0, record.size);
    mpi.rank = record.rank < mpi.size ? std::max(-1, record.rank) : -1;
    mpi.thread_level = record.thread_level;
    mpi.spawned = (record.flags & kMpiSpawned) != 0;
    mpi.session = (record.flags & kMpiSession) != 0;
    mpi.aborted = (record.flags & kMpiAborted) != 0;
    mpi.silenced = (record.flags & kMpiSilenced) != 0;
    mpi.origin_ticks = record.first_ticks;
    mpi.origin_ns = time(record.first_ns);
    mpi.last_ticks = record.last_ticks;
    mpi.last_ns = time(record.last_ns);
    mpi.ticks_per_ns = ticks_per_ns(mpi);
    mpi.init_begin_ns = time(record.init_begin_ns);
    mpi.init_end_ns = time(record.init_end_ns);
    mpi.finalize_begin_ns = time(record.finalize_begin_ns);
    mpi.finalize_end_ns = time(record.finalize_end_ns);
    mpi.mpi_ns = duration_ns(record.mpi_ticks, mpi);
    mpi.collectives = record.collectives;
    mpi.collective_stride = std::max<uint64_t>(1, record.collective_stride);
    mpi.messages = record.messages;
    mpi.message_stride = std::max<uint64_t>(1, record.message_stride);
    mpi.unmatched = record.unmatched;
    mpi.dropped_sites = record.dropped_sites;
    mpi.timeline_calls = record.timeline_calls;
}

void MpiBuilder::take(const MpiComm& record, uint32_t path, std::string name, Allowance& allowance) {
    if (record.id == 0 || !allowance.take(sizeof(model::MpiComm)))
        return;
    mpi().comms.push_back({.id = record.id,
                           .group_hash = record.group_hash,
                           .ordinal = record.ordinal,
                           .size = record.size,
                           .remote_size = record.remote_size,
                           .rank = record.rank,
                           .first = record.first,
                           .world = (record.flags & kMpiCommWorld) != 0,
                           .self = (record.flags & kMpiCommSelf) != 0,
                           .inter = (record.flags & kMpiCommInter) != 0,
                           .kind = record.flags & kMpiCommWindow ? model::CommKind::window
                                   : record.flags & kMpiCommFile ? model::CommKind::file
                                                                 : model::CommKind::communicator,
                           .name = std::move(name),
                           .path = path,
                           .handle = record.handle});
}

// Its times stay ticks until finish().
void MpiBuilder::take(const MpiSite& record, uint32_t thread, uint32_t path, std::string call, Allowance& allowance) {
    if (record.id == 0 || !allowance.take(sizeof(model::MpiSite)))
        return;
    model::MpiSite& site = mpi().sites.emplace_back();
    site.id = record.id;
    site.call = std::move(call);
    site.kind = record.kind;
    site.thread = thread;
    site.path = path;
    site.comm = record.comm;
    site.calls = record.calls;
    site.failed = record.failed;
    site.found_nothing = record.found_nothing;
    site.time_ns = record.ticks;
    site.longest_ns = record.longest_ticks;
    site.sent_bytes = record.sent_bytes;
    site.received_bytes = record.received_bytes;
    site.first_ns = record.first_ticks;
    site.last_ns = record.last_ticks;
    std::ranges::copy(record.size_histogram, site.sizes.begin());
}

void MpiBuilder::take(const MpiPeer& record, Allowance& allowance) {
    if ((record.messages == 0 && record.bytes == 0) || !allowance.take(sizeof(model::MpiPeer)))
        return;
    model::MpiPeer& peer = mpi().peers.emplace_back();
    peer.peer = std::max(-1, record.peer);
    peer.direction = direction_of(record.direction);
    peer.messages = record.messages;
    peer.bytes = record.bytes;
    std::ranges::copy(record.size_histogram, peer.sizes.begin());
}

void MpiBuilder::take(const MpiRequest& record, Allowance& allowance) {
    if (record.site == 0 || !allowance.take(sizeof(model::MpiRequest)))
        return;
    mpi().requests.push_back({.site = record.site,
                              .sent = (record.flags & kMpiMessageSent) != 0,
                              .synchronous = (record.flags & kMpiMessageSynchronous) != 0,
                              .collective = (record.flags & kMpiRequestCollective) != 0,
                              .peer = std::max(-1, record.peer),
                              .tag = std::max(-1, record.tag),
                              .comm = record.comm,
                              .tid = record.tid,
                              .handle = record.handle,
                              .sequence = record.sequence});
}

void MpiBuilder::take(const MpiInside& record, uint32_t thread, uint32_t path, std::string call, Allowance& allowance) {
    if (!allowance.take(sizeof(model::MpiInside)))
        return;
    mpi().inside.push_back({.thread = thread,
                            .call = std::move(call),
                            .kind = record.kind,
                            .path = path,
                            .source = std::max(-1, record.source),
                            .source_tag = std::max(-1, record.source_tag),
                            .target = std::max(-1, record.target),
                            .target_tag = std::max(-1, record.target_tag),
                            .requests = record.requests,
                            .request = record.request,
                            .begin_ns = record.begin_ticks});
    comm_handles_.push_back(record.comm);
}

// The communicator that had the handle last; and the whole call path where a site of the same thread knows it.
void MpiBuilder::finish_inside(model::MpiInside& inside, uint64_t comm_handle) const {
    const model::MpiProcess& mpi = *process_.mpi;
    const bool is_integer = mpi.library == model::MpiProcess::Library::mpich;
    for (const model::MpiComm& comm : mpi.comms) { // by id: the latest counts
        const bool has_upper_half = !is_integer || comm.kind != model::CommKind::communicator;
        if (comm_handle != 0 && comm.handle == (has_upper_half ? comm_handle : comm_handle & UINT32_MAX))
            inside.comm = comm.id;
    }
    inside.begin_ns = moment_ns(inside.begin_ns, mpi);
    const model::PathNode& here = process_.paths[inside.path];
    if (here.parent != 0)
        return;
    uint64_t latest_ns = 0;
    for (const model::MpiSite& site : mpi.sites)
        if (site.thread == inside.thread && site.call == inside.call && site.path < process_.paths.size() &&
            process_.paths[site.path].address == here.address && site.last_ns >= latest_ns) {
            latest_ns = site.last_ns;
            inside.path = site.path;
        }
}

void MpiBuilder::end_file(const std::string& name) {
    if (process_.mpi && process_.mpi->file.empty())
        process_.mpi->file = name;
}

void MpiBuilder::finish() {
    if (!process_.mpi)
        return;
    model::MpiProcess& mpi = *process_.mpi;
    for (model::MpiSite& site : mpi.sites) {
        site.time_ns = duration_ns(site.time_ns, mpi);
        site.longest_ns = duration_ns(site.longest_ns, mpi);
        site.first_ns = moment_ns(site.first_ns, mpi);
        site.last_ns = moment_ns(site.last_ns, mpi);
    }
    std::ranges::stable_sort(mpi.sites, {}, &model::MpiSite::id);
    std::ranges::stable_sort(mpi.comms, {}, &model::MpiComm::id);
    for (size_t i = 0; i < mpi.inside.size(); ++i)
        finish_inside(mpi.inside[i], comm_handles_[i]);
}

} // namespace plumb::trace
