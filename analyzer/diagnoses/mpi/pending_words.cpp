#include "diagnoses/mpi/pending_words.h"
#include "support/figures.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using model::MpiAwaited;
using model::MpiPendingRank;
using State = MpiPendingRank::State;

std::string awaits(const MpiPendingRank& rank) {
    std::vector<std::string> words;
    for (size_t i = 0; i < std::min(rank.awaits.size(), PendingWords::kMostNamed); ++i)
        words.push_back(awaited_words(rank.awaits[i]));
    if (rank.awaits.size() > PendingWords::kMostNamed)
        words.push_back(fmt::format("and {} more", rank.awaits.size() - PendingWords::kMostNamed));
    const bool completes = rank.kind & (trace::kMpiWait | trace::kMpiPoll);
    if (words.empty())
        return "";
    return completes ? fmt::format(" (messages {})", fmt::join(words, "; ")) : fmt::format(" {}", fmt::join(words, " and "));
}

} // namespace

std::string ranks_words(const std::vector<int>& ranks) {
    if (ranks.size() == 1)
        return fmt::format("rank {}", ranks[0]);
    if (ranks.size() <= PendingWords::kMostNamed)
        return fmt::format("ranks {}", fmt::join(ranks, ", "));
    return fmt::format("ranks {}, {}, {} and {} others", ranks[0], ranks[1], ranks[2], ranks.size() - 3);
}

std::string awaited_words(const MpiAwaited& awaited) {
    const std::string rank = awaited.rank < 0 ? "any rank" : fmt::format("rank {}", awaited.rank);
    return fmt::format("{} {}{}", awaited.sends ? "to" : "from", rank,
                       awaited.tag < 0 ? "" : fmt::format(" with tag {}", awaited.tag));
}

std::string signal_words(int signal) {
    const char* const name = sigabbrev_np(signal);
    return name ? fmt::format("signal {} (SIG{})", signal, name) : fmt::format("signal {}", signal);
}

std::string end_words(const MpiPendingRank& rank) {
    if (rank.signal != 0)
        return fmt::format("; killed by {} at {}", signal_words(rank.signal), format_seconds(rank.end_s));
    if (rank.end_seen && rank.exit_status > 0)
        return fmt::format("; exit status {} at {}", rank.exit_status, format_seconds(rank.end_s));
    return rank.end_seen ? fmt::format("; ended at {}", format_seconds(rank.end_s)) : "";
}

std::string others_words(size_t others) {
    return others == 0 ? "" : others == 1 ? ", the other one is listed below" : fmt::format(", {} others are listed below", others);
}

std::string PendingWords::doing(const MpiPendingRank& rank) const {
    const std::string place = place_of(rank);
    const std::string at = place.empty() ? "" : " at " + place;
    switch (rank.state) {
    case State::inside:
        return fmt::format("in {}{}{}{}", rank.call, awaits(rank), on_comm(rank), at);
    case State::ended:
        return rank.aborted ? "ended by MPI_Abort" : "at its end, without MPI_Finalize";
    case State::outside:
        break;
    }
    if (rank.kind & trace::kMpiPoll)
        return fmt::format("polling with {}{}{}", rank.call, awaits(rank), at);
    return fmt::format("outside MPI{}{}", at, rank.call.empty() ? "" : fmt::format(", its last call was {}", rank.call));
}

std::string PendingWords::line(const MpiPendingRank& rank) const {
    return fmt::format("rank {}: {}{}{}{}", rank.rank, doing(rank),
                       rank.for_s < 0 ? "" : fmt::format(", for at least {}", format_seconds(rank.for_s)),
                       rank.aborted && rank.state != State::ended ? "; it called MPI_Abort" : "", end_words(rank));
}

std::string PendingWords::line_of(const std::vector<uint32_t>& places) const {
    LineShares lines;
    for (const uint32_t place : places)
        add(lines, rank(place), 1);
    const std::vector<Location> heaviest = lines.heaviest(1);
    return heaviest.empty() ? "" : " at " + place_name(heaviest[0]);
}

std::vector<int> PendingWords::numbers(const std::vector<uint32_t>& places) const {
    std::vector<int> numbers;
    for (const uint32_t place : places)
        numbers.push_back(rank(place).rank);
    return numbers;
}

void PendingWords::add(LineShares& lines, const MpiPendingRank& rank, double weight) const {
    if (rank.has_path)
        lines.add(input_.paths.user_frame(rank.process, rank.path), weight);
}

double PendingWords::longest_s(const std::vector<uint32_t>& places) const {
    double longest = 0;
    for (const uint32_t place : places)
        longest = std::max(longest, rank(place).for_s);
    return longest;
}

double PendingWords::shortest_s(const std::vector<uint32_t>& places) const {
    double shortest = places.empty() ? 0 : rank(places[0]).for_s;
    for (const uint32_t place : places)
        shortest = std::min(shortest, rank(place).for_s);
    return std::max(0.0, shortest);
}

std::string PendingWords::place_of(const MpiPendingRank& rank) const {
    LineShares lines;
    add(lines, rank, 1);
    const std::vector<Location> heaviest = lines.heaviest(1);
    return heaviest.empty() ? "" : place_name(heaviest[0]);
}

std::string PendingWords::on_comm(const MpiPendingRank& rank) const {
    if (rank.comm >= job_.comms.size() || job_.comms[rank.comm].world)
        return "";
    const model::MpiCommRow& comm = job_.comms[rank.comm];
    return comm.name.empty() ? fmt::format(" on a {} of {}", name_of(comm.kind), comm.size) : " on " + comm.name;
}

} // namespace plumb
