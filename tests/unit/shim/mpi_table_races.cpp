// The tables of MPI under ThreadSanitizer (see table_races.cpp): several threads make calls at the same time. Some tables are
// under the lock that all share, sites, names and the timeline under none.
#include "races.h"
#include "record/mpi/calls/site.h"
#include "record/mpi/communicators/comms.h"
#include "record/mpi/events/channels.h"
#include "record/mpi/events/requests.h"
#include "record/mpi/events/timeline.h"
#include "record/mpi/tables/table_lock.h"
#include "record/process/trace_writer.h"

#include <array>
#include <atomic>
#include <memory>

namespace {

using namespace plumb;
using namespace plumb::shim;
using namespace plumb::shim::mpi;
using races::in_threads, races::require;

constexpr uint32_t kRounds = 3000;

TableLock lock_of_tables;
Requests requests;
Channels channels;
Peers peers;
Comms comms;
auto sites = std::make_unique<Sites>();
Timeline timeline;

std::array<Function, 8> functions = {{{"MPI_Send", 1}, {"MPI_Recv", 2}, {"MPI_Bcast", 4}, {"MPI_Wait", 16},
                                      {"MPI_Test", 32}, {"MPI_Isend", 9}, {"MPI_Irecv", 10}, {"MPI_Barrier", 4}}};

// Messages from begin to end, as the wrappers do it: the lock is given back while the operation is under way.
void exchange_messages(uint32_t thread) {
    const Guard guard;
    const Handle world = 0x44000000, own = 100 + thread; // each thread frees and makes a communicator of its own
    uint64_t begun = 0, complete = 0;
    for (uint32_t i = 0; i < kRounds; ++i) {
        const Handle request = 1 + (thread * 7 + i) % 40; // handles are the same in several threads
        const uint32_t generation = comms.generation(); // without the lock
        if (const Locked locked(lock_of_tables); locked) {
            if (i % 16 == 0) {
                CommFacts facts{};
                facts.local = RankMap::regular(4, 0, 1);
                require(comms.add(guard, {own, 0, 0, 0, i}, facts, Comms::Origin::known) != nullptr, "there is room");
                require(comms.generation() != generation, "a new meaning of a handle is a new generation");
            }
            const Comm* const comm = comms.find(i % 2 ? world : own);
            require(comm != nullptr, "a communicator that was made is found");
            const Channels::Number number = channels.next(*comm, 0, 1, static_cast<int32_t>(thread), true);
            peers.count(guard, static_cast<int32_t>(i % 64), trace::MpiDirection::sent, i);
            if (Operation* const operation = requests.add(request)) {
                operation->kind = Operation::Kind::message;
                operation->sequence = number.sequence;
                operation->site = 1 + thread;
                requests.show(guard, *operation, request);
                ++begun;
            }
        }
        if (const Locked locked(lock_of_tables); locked && begun > complete) {
            if (Operation* const operation = requests.find(request)) {
                requests.hide(*operation);
                requests.remove(request);
                ++complete;
            }
        }
    }
}

void use_sites(uint32_t thread) {
    const Guard guard;
    for (uint32_t i = 0; i < 400; ++i) {
        const Function& function = functions[i % functions.size()];
        Site* const site = sites->add(guard, function, 1 + i, thread, 5);
        require(site && site->id && site->function == &function && sites->at(site->id) == site, "a site is one thread's");
        require(sites->name_of(guard, function) != 0, "the function has a name");
        const trace::StringId known = sites->known_name_of(function);
        require(known == 0 || site->record->call != 0, "a name that is known was written");
    }
}

void write_timeline(uint32_t thread) {
    const Guard guard;
    for (uint32_t i = 0; i < kRounds; ++i) {
        trace::MpiEvent event{};
        event.begin_ticks = i;
        event.end_ticks = i + 1;
        event.site = thread + 1;
        timeline.store(guard, event);
    }
}

} // namespace

int main() {
    {
        const Guard guard; // this thread owns the lock first; the others share it
        const Locked locked(lock_of_tables);
        require(static_cast<bool>(locked), "a free lock is given");
        CommFacts facts{};
        facts.local = RankMap::regular(4, 0, 1);
        require(comms.add(guard, {0x44000000, 0, trace::kMpiCommWorld, 0, 1}, facts, Comms::Origin::known) != nullptr,
                "there is room for the world");
    }
    in_threads("requests, channels, peers, communicators", exchange_messages);
    in_threads("sites and names", use_sites);
    timeline.set_room(64 * 1024); // it wraps around many times
    in_threads("timeline", write_timeline);
    require(timeline.stored() == 4 * kRounds, "every call is stored");
    require(lock_of_tables.refused() < kRounds, "the lock is available");
}
