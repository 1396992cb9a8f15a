#include "team/team.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

namespace plumb::team {

namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30; // MPI counts with an int

template <class Action> void in_pieces(size_t size, const Action& action) {
    for (size_t done = 0; done < size; done += kMostAtOnce)
        action(done, std::min(kMostAtOnce, size - done));
}

} // namespace

std::unique_ptr<Team> Team::gather(const Place& place, std::string& why_not) {
    std::unique_ptr<MpiLibrary> mpi =
        MpiLibrary::start([](const char* name) -> const char* { return std::getenv(name); }, why_not);
    if (!mpi)
        return nullptr;
    const bool numbered_alike = static_cast<size_t>(mpi->size()) == place.members && static_cast<size_t>(mpi->rank()) == place.own;
    const bool all_numbered_alike = mpi->is_same_everywhere(numbered_alike); // a step of its own: all answer each question
    const bool same_work = mpi->is_same_everywhere(place.work);
    if (numbered_alike && all_numbered_alike && same_work)
        return std::unique_ptr<Team>(new Team(std::move(mpi)));
    why_not = numbered_alike && all_numbered_alike ? "they do not see the same files"
                                                   : "the MPI library does not know the processes as the launcher numbers them";
    return nullptr;
}

Team::Team(std::unique_ptr<MpiLibrary> mpi) : mpi_(std::move(mpi)), exceptions_before_(std::uncaught_exceptions()) {}

Team::~Team() {
    if (std::uncaught_exceptions() > exceptions_before_)
        mpi_->abort_job();
    end_round();
}

void Team::end_round() {
    for (const MpiLibrary::Handle request : on_their_way_)
        mpi_->wait(request);
    on_their_way_.clear();
}

void Team::send(const std::string& part, int to) {
    on_their_way_.push_back(mpi_->begin_send(&given_size_, sizeof given_size_, to));
    in_pieces(part.size(), [&](size_t from, size_t count) {
        on_their_way_.push_back(mpi_->begin_send(part.data() + from, count, to));
    });
}

void Team::give(std::string part, bool to_all) {
    end_round();
    given_ = std::move(part);
    given_size_ = given_.size();
    if (!to_all && leads())
        return;
    const size_t last = to_all ? members() : 1;
    for (size_t member = 0; member < last; ++member)
        if (member != own())
            send(given_, static_cast<int>(member));
}

std::string Team::take(size_t member) {
    uint64_t size = 0;
    mpi_->receive(&size, sizeof size, static_cast<int>(member));
    std::string part(size, '\0');
    in_pieces(size, [&](size_t from, size_t count) { mpi_->receive(part.data() + from, count, static_cast<int>(member)); });
    return part;
}

} // namespace plumb::team
