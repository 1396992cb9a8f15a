#include "record/access/replay/packed_accesses.h"

#include "record/access/replay/access_layout.h"
#include "support/magnitude.h"

#include <plumb/trace_format.h>

namespace plumb::record {
namespace {

// Those that walk an array without gaps: alone, or together with the same of the round's other parts, as in unrolled loops. Members of
// a record lie side by side as well, but each is computed with in another way.
std::set<size_t> adjacent_ones(const std::vector<LoopAccess>& accesses, unsigned parts) {
    std::set<size_t> adjacent;
    for (size_t i = 0; i < accesses.size(); ++i) {
        const LoopAccess& own = accesses[i];
        const int64_t round = static_cast<int64_t>(magnitude(own.round)), width = own.width;
        if (round == 0 || width == 0 || round % width != 0)
            continue;
        std::set<int64_t> places; // of a round, in elements from its own
        for (const LoopAccess& other : accesses) {
            const int64_t distance = static_cast<int64_t>(other.address - own.address);
            if (other.round == own.round && other.width == own.width && distance > -round && distance < round && distance % width == 0)
                places.insert((distance + round) % round / width);
        }
        if (static_cast<int64_t>(places.size()) * width == round && parts % places.size() == 0)
            adjacent.insert(i);
    }
    return adjacent;
}

std::vector<uint64_t> begins_of_groups(const std::vector<LoopAccess>& accesses) {
    std::vector<uint64_t> begins;
    for (const LoopAccess& each : accesses)
        begins.push_back(each.address);
    for (const AccessGroup& group : groups_of(accesses))
        for (const size_t member : group.members)
            begins[member] = accesses[group.members.front()].address;
    return begins;
}

} // namespace

bool passes_on_in_memory(const std::vector<LoopAccess>& loop, unsigned rounds) {
    for (const LoopAccess& store : loop)
        for (const LoopAccess& load : loop) {
            if (!(store.flags & trace::kAlignStore) || !(load.flags & trace::kAlignLoad) || store.round != load.round || store.round == 0)
                continue;
            for (unsigned later = 1; later < rounds; ++later) {
                const auto behind = static_cast<int64_t>(store.address - load.address - later * static_cast<uint64_t>(store.round)); // bytes
                if (behind > -int64_t{store.width} && behind < int64_t{load.width})
                    return true;
            }
        }
    return false;
}

PackedAccesses::PackedAccesses(const std::vector<LoopAccess>& loop, unsigned lanes, unsigned copies, unsigned parts)
    : loop_(loop), group_begin_(begins_of_groups(loop)), adjacent_(adjacent_ones(loop, parts)), lanes_(lanes), copies_(copies) {}

int PackedAccesses::once(int number) {
    const auto index = static_cast<size_t>(number);
    return add(index, loop_[index].width, false);
}

int PackedAccesses::of_width(int number, unsigned bytes) { return add(static_cast<size_t>(number), bytes, true); }

int PackedAccesses::of_elements(int number, unsigned bytes_each) {
    const LoopAccess& own = loop_[static_cast<size_t>(number)];
    if (own.round == 0 && (own.flags & trace::kAlignStore))
        return -1;
    return of_width(number, lanes_ * bytes_each);
}

// `spreads`: its elements; otherwise it is made once for all of them.
int PackedAccesses::add(size_t index, unsigned width, bool spreads) {
    LoopAccess access = loop_[index];
    const int64_t lanes = lanes_;
    if (access.round == 0) {
        access.address &= ~uint64_t{width - 1}; // the same number several times, as compilers lay out constants
    } else if (!spreads || adjacent_.contains(index)) {
        // What an unrolled round accesses side by side moves apart; arrays stay where they are, whatever their alignment.
        const uint64_t within = (access.address - group_begin_[index]) % magnitude(access.round);
        access.address += spreads ? (within - within % access.width) * (lanes_ - 1) : 0;
        if (access.round < 0 && spreads)
            access.address -= width - access.width;
        access.round *= lanes;
    } else { // an array of its own
        made_adjacent_ = true;
        constexpr int kFarApart = 32;     // bits
        constexpr uint64_t kBeside = 320; // bytes in a page: the same place in several pages makes loads wait for stores
        const uint64_t array = arrays_.try_emplace(access.address, arrays_.size() + 1).first->second;
        access.address = (access.address & ~uint64_t{width - 1}) + (array << kFarApart) + array * kBeside;
        access.round = (access.round < 0 ? -1 : 1) * static_cast<int64_t>(width);
    }
    access.width = static_cast<uint16_t>(width);
    access.address += copy_ * static_cast<uint64_t>(access.round);
    access.round *= copies_;
    made_.push_back(access);
    return static_cast<int>(made_.size()) - 1;
}

} // namespace plumb::record
