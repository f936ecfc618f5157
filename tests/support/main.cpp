// The entry of every test program: doctest's own, which also fails when a filter matches nothing.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  struct CountCases : doctest::IReporter {
    unsigned run = 0;
    explicit CountCases(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override { executed() = stats.numTestCasesPassingFilters; }
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
    static unsigned& executed() {
      static unsigned count = 0;
      return count;
    }
  };
  doctest::registerReporter<CountCases>("count", 0, false);
  const int failures = context.run();
  if (context.shouldExit()) return failures;
  if (CountCases::executed() == 0) {
    std::fputs("no test case was run\n", stderr);
    return 1;
  }
  return failures;
}
