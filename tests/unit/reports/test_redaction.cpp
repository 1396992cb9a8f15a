#include "platform/redaction.h"

#include <catch2/catch.hpp>
#include <plumb/redaction.h>

using namespace plumb::platform;

TEST_CASE("redaction: absolute paths lose their folders, common ones and slashes of other kinds stay") {
    for (const auto& [text, left] : {
             std::pair("/home/alice/project/app", "app"),
             std::pair("/home/al ice/pro ject/app", "app"),
             std::pair("/home/alice/project/lib.so (deleted)", "lib.so (deleted)"),
             std::pair("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
             std::pair("cannot read /scratch/alice/x.so: gone", "cannot read x.so: gone"),
             std::pair("(/data/alice/a.c:12, '/data/alice/b.c')", "(a.c:12, 'b.c')"),
             std::pair("/home/alice", "~"),
             std::pair("in /home/alice/.", "in ."),
             std::pair("/home/alice/", "~"),
             std::pair("see /home/alice: all", "see ~: all"),
             std::pair("…/alice/sources/x.c", "…x.c"),
             std::pair("https://server.of.alice/path", "https:path"),
             std::pair("/pair/", "/pair/"),
             std::pair("12 MB/s, read/write, a / b", "12 MB/s, read/write, a / b"),
             std::pair("/usr/bin/app reads /home/alice/data", "/usr/bin/app reads data"),
             std::pair("[vdso]", "[vdso]"),
             std::pair("/", "/"),
             std::pair("", ""),
         })
        CHECK(without_folders(text) == left);
}

TEST_CASE("redaction: file names of paths, relative ones, too") {
    CHECK(file_name_of("../alice/x.c") == "x.c");
    CHECK(file_name_of("/data/alice/x.c") == "x.c");
    CHECK(file_name_of("/data/alice/") == "alice");
    CHECK(file_name_of("/usr/include/c++/12/vector") == "/usr/include/c++/12/vector");
    CHECK(file_name_of("x.c") == "x.c");
    CHECK(file_name_of("").empty());
}

TEST_CASE("redaction: of a command its program is left") {
    CHECK(without_arguments({"/home/alice/app", "secret", "more"}) == std::vector<std::string>{"app", "..."});
    CHECK(without_arguments({"app"}) == std::vector<std::string>{"app"});
    CHECK(without_arguments({}).empty());
}

TEST_CASE("redaction: aliases") {
    char alias[plumb::redaction::kAliasBytes];
    const std::string id = "0123abcd-4567-89ab-cdef-0123456789ab\n";
    plumb::redaction::alias_of_host(id.data(), id.size(), alias);
    CHECK(std::string(alias) == "host-0123abcd4567");
    plumb::redaction::alias_of_host(nullptr, 0, alias);
    CHECK(std::string(alias) == "host");
    CHECK(job_alias("a") != job_alias("b"));
    CHECK(job_alias("a") == job_alias("a"));
    CHECK(job_alias("a").size() == plumb::redaction::kAliasBytes - 4);
}

TEST_CASE("redaction: topology without what names the machine") {
    CHECK(without_infos("<object type=\"Machine\">\n <info name=\"HostName\" value=\"secret\"/>\n <object/></object>") ==
          "<object type=\"Machine\">\n \n <object/></object>");
    CHECK(without_infos("<info name=\"HostName\" value=\"secret") == "");
}
