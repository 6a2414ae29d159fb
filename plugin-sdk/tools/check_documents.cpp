// backplane-check-documents FILE…: checks all documents of one plugin together.
//
// Prints one line per problem, file:line: /pointer: message, to standard error; the exit code is 1 if there is a problem.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "backplane/kit/group_check.hpp"
#include "engine/document_check.hpp"

int main(int argc, char** argv) {
  std::vector<backplane::CarriedDocument> documents;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
    documents.push_back({argv[i], {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
  }
  bool refused = false;
  for (const auto& problem : backplane::check_documents(documents, backplane::kit::problem_of_group)) {
    if (problem.is_note) continue;
    std::fprintf(stderr, "%s\n", backplane::to_line(problem).c_str());
    refused = true;
  }
  return refused ? 1 : 0;
}
