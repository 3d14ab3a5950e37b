#!/usr/bin/env python3
"""Tests tidy.py on a small tree: each fault must be found, and a clean counterpart must pass.

Run: python3 tools/tidy_test.py
"""

import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).resolve().with_name("tidy.py")
sys.path.insert(0, str(TOOL.parent))

import tidy  # noqa: E402  (found through the path set above)

# The real bans and limits, without the exemptions: those belong to the real tree.
POLICY = TOOL.with_name("tidy.toml").read_text(encoding="utf-8").split("\n[[exempt]]")[0] + "\n"


class TidyCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, files):
        for path, text in files.items():
            full = self.root / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(text if isinstance(text, bytes) else text.encode())

    def findings(self, rule, files, exempt="", paths=None):
        """Writes the files and returns 'path:line' of each finding of one rule."""
        self.write(files)
        found, _ = tidy.check(self.root, tidy.Config(POLICY + exempt), paths)
        return [f"{item.path}:{item.line}" for item in found if item.rule == rule]

    def assert_found(self, rule, path, text, line=1, others=None):
        self.assertEqual(self.findings(rule, {path: text, **(others or {})}), [f"{path}:{line}"],
                         f"{rule} not found in {path}: {text!r}")

    def assert_clean(self, rule, path, text, others=None):
        self.assertEqual(self.findings(rule, {path: text, **(others or {})}), [],
                         f"{rule} found in {path}: {text!r}")


class LexerTest(unittest.TestCase):
    def test_blanks_comments_and_literals_and_keeps_offsets(self):
        for text in ('a /* b\nc */ d', 'a // b\\\nc\nd', 'f("x\\"y", \'"\', d)',
                     'f(R"q(a)"\n)q", d)', "f(u8'b', L'c', d)", 'f("a\\\nb", d)'):
            code, _, _ = tidy.lex(text)
            self.assertEqual(len(code), len(text))
            self.assertEqual(code.count("\n"), text.count("\n"))
            for hidden in "bcxyq":
                self.assertNotIn(hidden, code, text)
            self.assertIn("d", code)

    def test_digit_separators_do_not_open_a_literal(self):
        text = "x = 1'000'000 + 0xAB'CD; y = 'z';"
        self.assertEqual(tidy.lex(text)[0], text.replace("z", " "))

    def test_comment_marks_inside_strings_are_text(self):
        code, strings, _ = tidy.lex('f("http://x", "/*"); g(); // "h"')
        self.assertIn("g();", code)
        self.assertEqual([content for _, content in strings], ["http://x", "/*"])

    def test_returns_string_contents_and_includes(self):
        _, strings, includes = tidy.lex('#include <a/b>\n# include "c"\n// #include "d"\nR"x(y)x"')
        self.assertEqual([content for _, content in strings], ["y"])
        self.assertEqual([(quoted, path) for _, quoted, path in includes],
                         [(False, "a/b"), (True, "c")])


class BannedCallTest(TidyCase):
    # Place, banned text, and similar text that is allowed in the same place.
    CASES = [
        ("src/ksana/a/x.cpp", "std::chrono::system_clock::now();", "system_clock::time_point t;"),
        ("tests/x.cpp", "std::chrono::steady_clock::now();", "clock.Now();"),
        ("src/ksana/a/x.cpp", "high_resolution_clock c;", "steady_clock::time_point t;"),
        ("apps/x.cpp", "std::time(nullptr);", "job.time(nullptr); run_time(nullptr); time(x);"),
        ("apps/x.cpp", "gettimeofday(&t, nullptr);", "// gettimeofday(&t, nullptr);"),
        ("apps/x.cpp", "clock_gettime(0, &t);", 'f("clock_gettime(");'),
        ("tests/x.cpp", "std::this_thread::sleep_for(1ms);", "std::this_thread::yield();"),
        ("tests/x.cpp", "std::this_thread::sleep_until(t);", "WaitUntil(t);"),
        ("tests/x.cpp", "usleep(1);", "int usleeps = 1;"),
        ("tests/x.cpp", "nanosleep(&t, nullptr);", "nano(1);"),
        ("tests/x.cpp", "::sleep(1);", "clock.sleep(1); p->sleep(1);"),
        ("bench/x.cpp", "int i = rand();", "int i = random.rand(); operand(1);"),
        ("bench/x.cpp", "srand(1);", "Random r(1);"),
        ("bench/x.cpp", "std::random_device d;", "Device d;"),
        ("bench/x.cpp", "std::mt19937_64 g;", "Random g;"),
        ("src/ksana/a/x.cpp", "std::thread t(f);",
         "std::jthread t; std::this_thread::yield(); std::thread::id i;"
         " std::thread::hardware_concurrency();"),
        *(("src/ksana/a/x.cpp", f"std::{name} x;", f"ksana::{name} x;") for name in (
            "mutex", "shared_mutex", "lock_guard", "unique_lock", "scoped_lock", "shared_lock",
            "condition_variable", "condition_variable_any")),
        ("apps/x.cpp", "#include <mutex>", '#include "ksana/base/process/mutex.hpp"'),
        ("src/ksana/a/x.cpp", "worker.detach();", "asio::detached; Detach();"),
        ("src/ksana/a/x.cpp", "std::regex r;", "ksana::regex r;"),
        ("src/ksana/a/x.cpp", "#include <regex>", "#include <string>"),
        ("src/ksana/a/x.cpp", "std::cout << 1;", "out << 1;"),
        ("src/ksana/a/x.cpp", "std::cerr << 1;", "err << 1;"),
        ("src/ksana/a/x.cpp", "std::printf(x);", "std::snprintf(b, 1, x); fmt.printf(x);"),
        ("src/ksana/a/x.cpp", "puts(x);", "outputs(x);"),
        ("src/ksana/a/x.cpp", "#include <boost/asio.hpp>", "#include <boost/uuid.hpp>"),
        ("tests/x.cpp", "#include <boost/beast/core.hpp>", "#include <boost/url.hpp>"),
        ("src/ksana/http_server/x.cpp", "#include <boost/json.hpp>",
         "#include <boost/asio/post.hpp>"),
        ("src/ksana/http_server/x.cpp", "#include <toml++/toml.hpp>", "#include <tuple>"),
        ("src/ksana/a/x.cpp", "assert(x);", "static_assert(x); KSANA_CHECK(x);"),
        ("src/ksana/a/x.cpp", "#include <cassert>", "// #include <cassert>"),
        ("src/ksana/a/x.hpp", "using namespace std;", "using std::string; namespace a {}"),
        ("src/ksana/a/x.cpp", "auto* p = new int;", "#include <new>"),
        ("src/ksana/a/x.cpp", "new (place) T;", "int renew = news;"),
        ("src/ksana/a/x.cpp", "delete p;", "X(const X&) = delete; X(X&&) =\n    delete;"),
        ("src/ksana/a/x.cpp", "delete[] p;", "X(X&&)=delete;"),
        ("tests/x.cpp", "void* operator new(std::size_t n);", "operator bool();"),
        ("apps/x.cpp", "out << std::endl;", "int endl = 1;"),
        *(("apps/x.cpp", f"std::{name}(x);", f"My{name}(x);") for name in (
            "localtime", "localtime_r", "mktime", "setlocale", "tzset", "getenv", "setenv")),
        ("include/x.hpp", "reinterpret_cast<char*>(p);", "static_cast<char*>(p);"),
        ("src/ksana/a/x.cpp", "try { f(); } catch (...) { /* never */ }",
         "try { f(); } catch (...) { throw; }"),
        ("src/ksana/a/x.cpp", "try { f(); } catch (...) { ok = false; }",
         "try { f(); } catch (...) { Report(); } try { } catch (const E&) { }"),
    ]

    def test_each_ban(self):
        for path, banned, allowed in self.CASES:
            with self.subTest(banned=banned):
                self.assert_found("banned-call", path, f"int a;\n{banned}\n", 2)
                self.assert_clean("banned-call", path, allowed + "\n")
                (self.root / path).unlink()

    def test_every_ban_of_the_policy_is_planted(self):
        bans, hit = tidy.Config(POLICY).bans, set()
        for path, banned, _ in self.CASES:
            _, _, includes = tidy.lex(banned)
            for number, ban in enumerate(bans):
                if ban.holds_in(path, ("src/", "apps/", "include/", "tests/", "bench/")):
                    if ban.code_regex and ban.code_regex.search(tidy.lex(banned)[0]):
                        hit.add(number)
                    if includes and ban.include and ban.include_regex.search(includes[0][2]):
                        hit.add(number)
        self.assertEqual(hit, set(range(len(bans))))

    def test_places(self):
        for path, text in (("src/ksana/base/time/clock.cpp", "steady_clock::now();"),
                           ("src/ksana/codec/x.cpp", "#include <boost/json.hpp>"),
                           ("src/ksana/server/x.cpp", "#include <toml++/toml.hpp>"),
                           ("apps/main.cpp", "std::cout << 1;"),
                           ("src/ksana/a/x.cpp", "using namespace std::chrono_literals;"),
                           ("examples/x.cpp", "std::cout << rand();")):
            self.assert_clean("banned-call", path, text + "\n")
        self.assert_found("banned-call", "src/ksana/base/time/clock_test.cpp",
                          "steady_clock::now();\n")

    def test_folders_stay_narrow(self):
        files = {f"src/ksana/m/file_{n:02}.hpp": "#pragma once\n" for n in range(30)}
        files["src/ksana/m/file_00_test.cpp"] = ""
        self.assertEqual(self.findings("folder-width", files), [])
        files["src/ksana/m/other/one.cpp"] = ""
        self.assertEqual(self.findings("folder-width", files), [])
        files["src/ksana/m/file_30.cpp"] = ""
        self.assertEqual(self.findings("folder-width", files), ["src/ksana/m/file_00.hpp:1"])
        files = {f"tests/t/f_{n}.hpp": "" for n in range(40)}
        self.assertEqual(self.findings("folder-width", files), ["src/ksana/m/file_00.hpp:1"])

    def test_modules_have_a_short_readme(self):
        path, readme = "src/ksana/m/CMakeLists.txt", "src/ksana/m/README.md"
        self.assert_found("module-readme", path, "ksana_module(m RANK 1)\n")
        self.assert_found("module-readme", path, "", 1, {readme: "line\n" * 16})
        self.assert_clean("module-readme", path, "", {readme: "line\n" * 15})
        self.assert_clean("module-readme", "src/ksana/m/room/CMakeLists.txt", "")
        self.assert_clean("module-readme", "src/ksana/CMakeLists.txt", "")
        self.assert_found("module-readme", "apps/ksana/CMakeLists.txt", "")

    def test_message_names_the_replacement(self):
        self.write({"src/x.cpp": "usleep(1);\n"})
        found, _ = tidy.check(self.root, tidy.Config(POLICY))
        messages = [item.message for item in found if item.rule == "banned-call"]
        self.assertEqual(messages, ["'usleep': use Clock::Wait, or a test signal"])


class SqlTest(TidyCase):
    def test_sql_text_belongs_in_the_store(self):
        for text in ('f("SELECT a FROM b");', 'f(R"(\n  INSERT INTO a)");', 'f("UPDATE a");',
                     'f("DELETE FROM a");', 'f("CREATE TABLE a");'):
            self.assert_found("sql-outside-store", "apps/x.cpp", text + "\n")
            for path in ("src/ksana/store_x/a.cpp", "tests/a.cpp", "bench/a.cpp"):
                self.assert_clean("sql-outside-store", path, text + "\n", {"apps/x.cpp": ""})
        self.assert_clean("sql-outside-store", "apps/x.cpp",
                          '// "SELECT a"\nf("SELECTED a", "Select one", "UPDATED", "DELETE");\n')


class LengthTest(TidyCase):
    def test_file_length(self):
        for path, limit in (("src/x.cpp", 500), ("src/x.hpp", 300), ("src/x_test.cpp", 600),
                            ("a.py", 500), ("a.sh", 500)):
            self.assert_clean("file-length", path, "\n" * limit)
            self.assert_found("file-length", path, "\n" * (limit + 1))
            (self.root / path).unlink()
        self.assert_found("file-length", "script", "#!/usr/bin/env bash\n" + "\n" * 500)

    def test_line_length(self):
        for path in ("x.cpp", "x.cmake", "CMakeLists.txt", "x.py", "x.sh"):
            self.assert_found("line-length", path, "\n" + "é" * 101 + "\n", 2)
            self.assert_clean("line-length", path, "é" * 100 + "\n")
        self.assert_clean("line-length", "x.md", "a" * 200 + "\n")
        self.assert_clean("line-length", "tests/data/x.cpp", "a" * 200 + "\n")

    HEADS = ["void F() {", "TEST(A, B) {", "auto A::F(int a = 1) const noexcept -> R<int()> {",
             "A::A(int a) : a_{a}, b_(a), C<int>{1} {", "bool operator==(A a, B b) {",
             "namespace a { struct B : C<D()> { int e{1}; int F() override {",
             "template <class T = int> requires(X<T>) T F() {", "static void F(A a = {}) try {",
             "extern \"C\" { int f(void) {", "class alignas(8) A final { public: A() = default; A& "
             "operator=(const A&) & {", "struct CAPABILITY(x) A { operator bool() const {",
             "int x = 1; [[nodiscard(\"a\")]] int F() {", "#define A(x) {\nint F() {",
             "using E = std::function<void()>;\nE G() {", "A() noexcept : A{B{1}} {"]

    def test_function_length(self):
        for head in self.HEADS:
            for inner, planted in ((71, True), (70, False)):
                body = "\nf([] { return 1; });" * inner + "\n}" * head.split("\n")[-1].count("{")
                found = self.findings("function-length", {"src/x.cpp": f"{head}{body}\n"})
                self.assertEqual(bool(found), planted, (head, inner))

    def test_long_tables_and_scopes_are_no_functions(self):
        for head in ("constexpr int kTable[] = {", "const std::map<int, std::function<R(A)>> kM{",
                     "namespace a {", "enum class A : int {", "struct A : B<C()> {",
                     "static const Table kT = Make(1, {", "class API(x) A {"):
            end = "});" if head.endswith("(1, {") else "};"
            self.assert_clean("function-length", "src/x.cpp", head + "\n1,2" * 90 + f"\n{end}\n")

    def test_the_finding_names_the_function(self):
        self.write({"src/x.cpp": "TEST(Suite, Case) {" + "\nf();" * 80 + "\n}\n"})
        found, _ = tidy.check(self.root, tidy.Config(POLICY))
        self.assertIn("'TEST(Suite, Case)' has 80 lines, limit 70", [f.message for f in found])


class LeftoverTest(TidyCase):
    def test_leftover(self):
        for word in ("TODO", "FIXME", "XXX", "HACK"):
            self.assert_found("leftover", "src/x.cpp", f"int a;\n// {word}: later\n", 2)
            self.assert_clean("leftover", "src/x.cpp", f"int k{word}s; // todo {word}S\n")
            self.assert_clean("leftover", "tools/tidy_more.py", f"# {word}\n")
        self.assert_clean("leftover", "x.sh", "mktemp -d /tmp/XXXXXX\n")


class LayeringTest(TidyCase):
    MODULES = {
        "src/ksana/base/CMakeLists.txt": "ksana_module(base RANK 0\n SOURCES x.cpp)\n",
        "src/ksana/plan/CMakeLists.txt": "ksana_module(plan RANK 1 DEPS base LINK fmt)\n",
        "src/ksana/http/CMakeLists.txt": "ksana_module(http RANK 2 DEPS plan # base\n)\n",
    }

    def test_only_declared_dependencies_may_be_included(self):
        def of(module):
            return f'#include "ksana/{module}/a.hpp"\n'
        self.assert_found("layering", "src/ksana/http/x.cpp", of("http") + of("base"), 2,
                          self.MODULES)
        self.assert_clean("layering", "src/ksana/http/x.cpp", of("http") + of("plan"))
        self.assert_found("layering", "src/ksana/plan/x.cpp", of("fmt"))
        self.assert_clean("layering", "src/ksana/plan/x.cpp", "// " + of("http"))
        self.assert_clean("layering", "apps/x.cpp", of("http") + of("base"))
        self.assert_found("layering", "src/ksana/bare/x.cpp", of("base"))
        (self.root / "src/ksana/bare/x.cpp").unlink()
        self.assert_clean("layering", "src/ksana/plan/x.cpp", of("client"),
                          {"include/ksana/client/a.hpp": "#pragma once\n"})

    def test_a_dependency_has_a_lower_rank(self):
        listing = "src/ksana/base/CMakeLists.txt"
        self.assert_clean("layering", "x.cpp", "", self.MODULES)
        for text in ("ksana_module(base RANK 0 DEPS http)\n", "ksana_module(base RANK 0 DEPS no)\n",
                     "ksana_module(base)\n"):
            self.assert_found("layering", listing, "\n" + text, 2)

    def test_includes_are_quoted_paths_from_the_root(self):
        others = {"tests/a.hpp": "#pragma once\n"}
        for text in ('#include "../a.hpp"', '#include "./a.hpp"', '#include "a.hpp"',
                     "#include <ksana/base/a.hpp>"):
            self.assert_found("layering", "tests/x.cpp", text + "\n", 1, others)
        self.assert_clean("layering", "tests/x.cpp",
                          '#include "support/a.hpp"\n#include "sqlite3.h"\n#include <vector>\n')


class BuildTest(TidyCase):
    def test_every_test_and_source_is_built(self):
        for rule, name in (("test-in-build", "a_test.cpp"), ("source-in-build", "a.cpp")):
            path, listing = f"src/m/{name}", "src/m/CMakeLists.txt"
            self.assert_found(rule, path, "", 1, {listing: f"m(SOURCES b_{name} # {name}\n)\n"})
            for text in (f"m(SOURCES b.cpp {name})\n", f'm("{name}")\n',
                         f"m(${{CMAKE_CURRENT_SOURCE_DIR}}/{name})\n"):
                self.assert_clean(rule, path, "", {listing: text})
            self.write({listing: ""})
            self.assert_found(rule, path, "", 1, {"src/CMakeLists.txt": f"m(n/{name})\n"})
            self.assert_clean(rule, path, "", {"src/CMakeLists.txt": f"m(m/{name})\n"})
            self.assert_clean(rule, path, "", {"src/CMakeLists.txt": f"m({name})\n"})
            # The bare name in the parent now names the parent's own file.
            self.assert_found(rule, path, "", 1, {f"src/{name}": ""})
            (self.root / f"src/{name}").unlink()
            (self.root / path).unlink()
            self.assert_clean(rule, f"bench/{name}", "", {listing: f"m({name})\n"})
            for taken in ("ksana_module(m RANK 1)\n",
                          "file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)\n"):
                self.assert_clean(rule, f"src/m/room/{name}", "", {listing: taken})
            self.assert_found(rule, f"src/m/room/{name}", "", 1,
                              {listing: "# ksana_module(m)\nfile(GLOB_RECURSE s *.txt)\n",
                               "src/CMakeLists.txt": ""})


class HeaderTest(TidyCase):
    def test_pragma_once_comes_first(self):
        self.assert_clean("header", "src/x.hpp", "// a\n/* b */\n\n#pragma once\n")
        for text in ("#include <a>\n#pragma once\n", "", "// #pragma once\n", "#ifndef X\n"):
            self.assert_found("header", "src/x.hpp", text)

    def test_own_header_is_the_first_include(self):
        others = {"src/ksana/a/x.hpp": "#pragma once\n"}
        own, path = '#include "ksana/a/x.hpp"\n', "src/ksana/a/x.cpp"
        self.assert_clean("header", path, "// x\n" + own + "#include <a>\n", others)
        self.assert_found("header", path, "\n#include <a>\n" + own, 2, others)
        self.assert_found("header", path, '#include "ksana/b/x.hpp"\n', 1, others)
        self.assert_found("header", path, "int a;\n", 1, others)
        self.assert_clean("header", path, own, {"src/ksana/a/x_test.cpp": "#include <a>\n"})


class CoroutineTest(TidyCase):
    HARMFUL = [
        "co_await Send(Request{1});", "auto r = co_await Send({.a = 1});",
        "co_await Run([x] { return x; });", "Foo foo{co_await Get()};", "f(Foo{co_await Get()});",
        "auto x = ok ? co_await Get() : Foo{};", "if (co_await Send(Foo{1})) { g(); }",
        "co_return co_await Run([&](int a) mutable -> int { return a; });",
        "auto [a, b] = co_await Send(std::vector<int>{1});", "co_await Run(\n    []{});",
        "for (auto x : Foo{co_await Get()}) { g(); }",
        "return [] { return 1; }() + co_await Get();",
        "Run([]() -> Task { co_await Send(Foo{1}); });",
    ]
    HARMLESS = [
        "const Request request{1};\nco_await Send(request);", "if (co_await Get()) { g(); }",
        "auto [a, b] = co_await Get();", "auto& [a, b] = co_await Get();",
        "Foo a{}; co_await Get();",
        "while (co_await Get(a[1])) { Foo b{1}; }", "do { g(); } while (co_await Get());",
        "co_spawn(io, [x]() -> Task { co_await Get(); }, detached);", "co_return Foo{1};",
        "auto run = [&]() -> Task<int> { co_return co_await Get(); };", "try { co_await Get(); }",
        "switch (co_await Get()) { case 1: { g(); } }", "[[maybe_unused]] auto a = co_await Get();",
        "if (auto r = co_await Get(); r) { g(); } else { co_await Get(); }",
        "for (int i = 0; i < 3; ++i) { co_await Get(); }", "// co_await Send(Foo{1});",
    ]

    def test_no_temporary_next_to_co_await(self):
        for head in ("Task<int> F() {\n", "auto A::F(int a) const -> Task<std::vector<int>> {\n",
                     "namespace a { struct B { int c_{1}; Task<int> F() override {\n"):
            end = "\n}" * head.count("{") + "\n"
            for text in self.HARMFUL:
                found = self.findings("coroutine", {"tests/x.cpp": head + text + end})
                self.assertEqual(len(found), 1, text)
            for text in self.HARMLESS:
                self.assert_clean("coroutine", "tests/x.cpp", head + text + end)

    def test_coroutines_have_their_places(self):
        for word in ("co_await Get();", "co_return;", "co_yield 1;"):
            text = f"Task F() {{\n  {word}\n}}\n"
            self.assert_found("coroutine", "src/ksana/plan/x.cpp", text, 2)
            self.assert_clean("coroutine", "src/ksana/plan/x.cpp", f"// {word}\n")
            for path in ("src/ksana/sdk/x.cpp", "include/x.hpp",
                         "examples/x.cpp", "tests/x.cpp", "src/ksana/plan/x_test.cpp"):
                self.assert_clean("coroutine", path, text)


class NameTest(TidyCase):
    def test_names(self):
        for path in ("src/FooBar.cpp", "apps/foo-bar.cpp", "tests/Foo.py", "src/_x.hpp",
                     "src/utils.hpp", "cmake/common.cmake", "src/helpers/a.cpp", "misc/a.md",
                     "tools/util.py"):
            self.assert_found("name", path, "")
            (self.root / path).unlink()
        for path in ("src/foo_bar2.cpp", "src/CMakeLists.txt", "tests/.clang-tidy", "docs/A-b.md",
                     "src/utility.hpp", "tests/data/A-1.json", "src/README.md"):
            self.assert_clean("name", path, "")
        self.assert_found("name", "src/Logo.png", b"\0\1")


class WhitespaceTest(TidyCase):
    def test_whitespace(self):
        for path in ("x.cpp", "x.md", "x.toml", "x.sh"):
            self.assert_found("whitespace", path, "a\nb \n", 2)
            self.assert_found("whitespace", path, "a\nb", 2)
            self.assert_found("whitespace", path, "a\r\nb\n", 1)
            self.assert_clean("whitespace", path, "a b\n  c\n")
        for path in ("x.cpp", "x.py", "x.cmake"):
            self.assert_found("whitespace", path, "a\n\tb\n", 2)
            self.assert_clean("whitespace", path, "a\n")
        self.assert_clean("whitespace", "x.sh", "\ta\n")
        self.assert_clean("whitespace", "tests/data/x.cpp", "a \r\n\tb")
        self.assert_clean("whitespace", "tests/fuzz/corpus/x.json", "a ")
        self.assert_clean("whitespace", "x.bin", b"\xff a ")
        self.assert_found("whitespace", "x.cpp", b"// \xff\n")


class HostTest(TidyCase):
    def test_machine_paths(self):
        for text in ("cd /home/me", '"/work/main"', "-I/root/include", "file:///home/a"):
            self.assert_found("secret-or-host", "docs/x.md", f"a\n{text}\n", 2)
        self.assert_clean("secret-or-host", "docs/x.md",
                          "https://a.org/home/ ~/work/ ${A}/work/ /homes/ ./root/a $HOME/x\n")
        self.assert_clean("secret-or-host", "tools/tidy.md", "/home/me\n")


class RequirementTest(TidyCase):
    def test_ids_exist(self):
        for text in ("K-26", "N-21", "T-16", "G-18", "D-19", "K-00"):
            self.assert_found("requirement-id", "src/x_test.cpp", f"\n// {text}\n", 2)
            self.assert_clean("requirement-id", "src/x_test.cpp", "// K-25, N-20 T-15 G-17 D-01\n")
        self.assert_found("requirement-id", "tests/e2e/x.py", "# K-99\n")
        self.assert_clean("requirement-id", "tests/e2e/x.py", "# UTK-99 K-999 X-99\n")
        self.assert_clean("requirement-id", "src/x.cpp", "// K-99\n")


class ExemptionTest(TidyCase):
    FAULT = {"apps/x.cpp": "std::getenv(a);\nstd::endl;\n"}

    def exempt(self, **fields):
        return "\n[[exempt]]\n" + "".join(f'{key} = "{text}"\n' for key, text in fields.items())

    def test_hides_only_what_it_names(self):
        given = self.exempt(rule="banned-call", path="apps/*.cpp", match="getenv", reason="start")
        self.assertEqual(self.findings("banned-call", self.FAULT, given), ["apps/x.cpp:2"])
        self.assertEqual(self.findings("stale-exemption", {}, given), [])

    def test_stale_in_the_whole_tree_only(self):
        given = self.exempt(rule="banned-call", path="apps/x.cpp", match="setenv", reason="start")
        line = POLICY.count("\n") + 2
        self.assertEqual(self.findings("stale-exemption", self.FAULT, given),
                         [f"tools/tidy.toml:{line}"])
        self.assertEqual(self.findings("stale-exemption", {}, given, ["apps/x.cpp"]), [])

    def test_needs_a_known_rule_and_a_reason(self):
        for fields in ({"rule": "banned-call", "path": "a"}, {"rule": "x", "path": "a",
                       "reason": "b"}, {"rule": "banned-call", "path": "a", "reason": " "}):
            with self.assertRaises((TypeError, ValueError)):
                tidy.Config(POLICY + self.exempt(**fields))


class CommandTest(TidyCase):
    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, TOOL, "--root", self.root, *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def test_exit_status_and_output(self):
        self.write({"tools/tidy.toml": POLICY, "b.py": "a \nb", "build/x.py": "a "})
        self.assertEqual(self.run_tool(), (1, [
            "b.py:1: whitespace: trailing blanks",
            "b.py:2: whitespace: no newline at the end of the file", "2 findings in 2 files"]))
        self.write({"b.py": "a\n", "c.py": "a "})
        self.assertEqual(self.run_tool(self.root / "b.py"), (0, ["0 findings in 1 files"]))
        self.assertEqual(self.run_tool("--no-such-option")[0], 2)
        self.assertEqual(self.run_tool(self.root / "absent.py")[0], 2)
        self.write({"tools/tidy.toml": "[limits"})
        self.assertEqual(self.run_tool()[0], 2)

    def test_git_decides_which_files_belong(self):
        self.write({"tools/tidy.toml": POLICY, ".gitignore": "ignored/\n", "ignored/a.py": "a ",
                    "new.py": "a ", "gone.py": "a "})
        git = ["git", "-C", self.root]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "gone.py"], check=True)
        (self.root / "gone.py").unlink()
        found, count = tidy.check(self.root, tidy.Config(POLICY))
        self.assertEqual((sorted({item.path for item in found}), count), (["new.py"], 3))

    def test_five_hundred_files_take_less_than_three_seconds(self):
        text = "// A comment of usual length, about a thing.\nint F(int a) {\n  return a + 1;\n}\n"
        self.write({f"src/ksana/a/f{number}.cpp": text * 75 for number in range(500)})
        # CPU time: wall time would also measure other processes.
        begin = time.process_time()
        tidy.check(self.root, tidy.Config(POLICY))
        self.assertLess(time.process_time() - begin, 3)


if __name__ == "__main__":
    unittest.main()
