// The digests of runs of experiment files, by the installed library alone: digests SECONDS FILE...
#include <rubato/run.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** arguments) {
  const std::vector<std::string> overrides{"until=" + std::string(arguments[1])};
  for (int i = 2; i < argc; ++i) {
    const rubato::RunResult result = rubato::run(rubato::read_experiment(arguments[i], overrides, std::cerr));
    std::printf("%s %s\n", result.digests.model.c_str(), result.digests.timeline.c_str());
  }
}
