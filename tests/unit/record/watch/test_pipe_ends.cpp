// Who has the other end of real pipes and sockets of this process and a child.
#include "record/watch/threads/pipe_ends.h"
#include "record/watch/threads/unix_peers.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace plumb::record;

namespace {

uint64_t inode_of(int descriptor) {
    struct stat facts {};
    REQUIRE(fstat(descriptor, &facts) == 0);
    return facts.st_ino;
}

// A child that keeps `theirs`, closes `ours`, and lives until it is killed.
class Child {
  public:
    Child(int ours, int theirs) {
        int begun[2];
        REQUIRE(pipe(begun) == 0);
        pid_ = fork();
        if (pid_ == 0) {
            close(ours);
            close(begun[0]);
            close(begun[1]);
            while (true)
                pause();
        }
        close(theirs);
        close(begun[1]);
        char byte;
        CHECK(read(begun[0], &byte, 1) == 0); // it has closed what it does not keep
        close(begun[0]);
    }
    ~Child() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    uint32_t pid() const { return static_cast<uint32_t>(pid_); }

  private:
    pid_t pid_;
};

} // namespace

TEST_CASE("the writer of a pipe is found by who reads from it, and the other way round") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const std::string name = "pipe:[" + std::to_string(inode_of(ends[0])) + "]";
    const auto own = static_cast<uint32_t>(getpid());
    const Child child(ends[0], ends[1]);
    PipeEnds pipes("/proc");
    CHECK(pipes.peers_of(own, name, false, {own, child.pid()}, 1) == PipeEnds::Peers{child.pid()});
    CHECK(pipes.peers_of(child.pid(), name, true, {own, child.pid()}, 2) == PipeEnds::Peers{own});
    CHECK(pipes.peers_of(own, name, true, {own, child.pid()}, 3) == PipeEnds::Peers{}); // the child cannot read from it
    CHECK(pipes.peers_of(own, "pipe:[0]", false, {own, child.pid()}, 4) == PipeEnds::Peers{});
    CHECK(PipeEnds("/proc").peers_of(own, name, false, {own}, 1) == PipeEnds::Peers{}); // a process that is not of the run
    close(ends[0]);
}

TEST_CASE("the other end of a connected UNIX domain socket is found") {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const uint64_t ours = inode_of(ends[0]), theirs = inode_of(ends[1]);
    const auto own = static_cast<uint32_t>(getpid());
    const Child child(ends[0], ends[1]);
    const auto peers = unix_socket_peers();
    if (peers.empty()) {
        WARN("not tested: the kernel does not answer about sockets here");
        return;
    }
    REQUIRE(peers.contains(ours));
    CHECK(peers.at(ours) == theirs);
    CHECK(PipeEnds("/proc").peers_of(own, "socket:[" + std::to_string(ours) + "]", false, {own, child.pid()}, 1) ==
          PipeEnds::Peers{child.pid()});
    close(ends[0]);
}
