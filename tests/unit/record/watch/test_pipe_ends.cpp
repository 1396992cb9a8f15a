// Who has the other end of real pipes and sockets of this process and a child.
#include "fake_tree.h"
#include "record/watch/threads/pipe_ends.h"
#include "record/watch/threads/tcp_peers.h"
#include "record/watch/threads/unix_peers.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
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

TEST_CASE("a FIFO is a pipe, whose ends are found by its path; a file is none") {
    const FakeTree tree;
    const std::string path = tree.root() + "/fifo", file = tree.root() + "/file";
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), writer = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const int plain = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE((reader >= 0 && writer >= 0 && plain >= 0));
    const auto name_of = [](int descriptor) {
        return descriptor_name(AT_FDCWD, ("/proc/self/fd/" + std::to_string(descriptor)).c_str());
    };
    CHECK(name_of(reader) == "pipe:" + path);
    CHECK(name_of(plain) == file);
    const auto own = static_cast<uint32_t>(getpid());
    const Child child(reader, writer);
    CHECK(PipeEnds("/proc").peers_of(own, "pipe:" + path, false, {own, child.pid()}, 1) == PipeEnds::Peers{child.pid()});
    close(reader);
    close(plain);
}

TEST_CASE("the other end of a TCP connection to this machine is found, also of IPv4 to IPv6") {
    for (const bool listens_to_both : {false, true}) {
        sockaddr_in6 both{};
        both.sin6_family = AF_INET6;
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const own_address = listens_to_both ? reinterpret_cast<sockaddr*>(&both) : reinterpret_cast<sockaddr*>(&to);
        socklen_t size = listens_to_both ? sizeof both : sizeof to;
        const int listener = socket(own_address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (listener < 0 || bind(listener, own_address, size) != 0 || listen(listener, 1) != 0 ||
            getsockname(listener, own_address, &size) != 0) {
            WARN("not tested: there is no such address here");
            close(listener);
            close(client);
            continue;
        }
        to.sin_port = listens_to_both ? both.sin6_port : to.sin_port;
        REQUIRE(connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
        const int server = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        REQUIRE(server >= 0);
        const uint64_t ours = inode_of(client), theirs = inode_of(server);
        const auto own = static_cast<uint32_t>(getpid());
        const Child child(client, server);
        const auto peers = tcp_socket_peers();
        if (peers.empty()) {
            WARN("not tested: the kernel does not answer about sockets here");
        } else {
            REQUIRE(peers.contains(ours));
            CHECK(peers.at(ours) == theirs);
            CHECK(peers.at(theirs) == ours);
            CHECK(PipeEnds("/proc").peers_of(own, "socket:[" + std::to_string(ours) + "]", false, {own, child.pid()}, 1) ==
                  PipeEnds::Peers{child.pid()});
        }
        close(client);
        close(listener);
    }
}
