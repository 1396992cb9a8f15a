#include "replay/messages/matrix.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumb::replay {

namespace {

constexpr size_t kHeaviestPairs = 64;
using Direction = model::MpiPeer::Direction;

bool heavier(const model::MpiMatrix::Place& left, const model::MpiMatrix::Place& right) {
    return std::tie(right.bytes, right.messages, left.from, left.to) <
           std::tie(left.bytes, left.messages, right.from, right.to);
}

// Keeps the heaviest ones; `pairs` may grow to twice their number in between.
void trim(std::vector<model::MpiMatrix::Place>& pairs) {
    std::ranges::sort(pairs, heavier);
    pairs.resize(std::min(pairs.size(), kHeaviestPairs));
}

} // namespace

model::MpiMatrix communication_matrix(const model::Run& run, const Job& job) {
    model::MpiMatrix matrix;
    const auto size = static_cast<uint32_t>(std::max(1, job.size));
    matrix.bin = 1 + (size - 1) / kMostMatrixRows;
    std::map<std::pair<uint32_t, uint32_t>, model::MpiMatrix::Place> places;
    for (const Rank& rank : job.ranks)
        for (const model::MpiPeer& peer : run.processes[rank.process].mpi->peers) {
            if (peer.direction == Direction::received) // the sender tells it
                continue;
            if (peer.peer < 0 || static_cast<uint32_t>(peer.peer) >= size) {
                matrix.unplaced_messages += peer.messages;
                matrix.unplaced_bytes += peer.bytes;
                continue;
            }
            auto from = static_cast<uint32_t>(rank.rank), to = static_cast<uint32_t>(peer.peer);
            if (peer.direction == Direction::got)
                std::swap(from, to);
            model::MpiMatrix::Place& place = places[{from / matrix.bin, to / matrix.bin}];
            place.from = from / matrix.bin;
            place.to = to / matrix.bin;
            place.messages += peer.messages;
            place.bytes += peer.bytes;
            matrix.heaviest_pairs.push_back({from, to, peer.messages, peer.bytes});
            if (matrix.heaviest_pairs.size() >= 2 * kHeaviestPairs)
                trim(matrix.heaviest_pairs);
        }
    trim(matrix.heaviest_pairs);
    matrix.places.reserve(places.size());
    for (const auto& [key, place] : places)
        matrix.places.push_back(place);
    return matrix;
}

model::SizeHistogram message_sizes(const model::Run& run, const Job& job) {
    model::SizeHistogram sizes = {};
    for (const Rank& rank : job.ranks)
        for (const model::MpiPeer& peer : run.processes[rank.process].mpi->peers)
            if (peer.direction == Direction::sent)
                for (size_t i = 0; i < sizes.size(); ++i)
                    sizes[i] += peer.sizes[i];
    return sizes;
}

} // namespace plumb::replay
