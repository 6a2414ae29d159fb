// Makes inputs by mutating the inputs of a corpus, like a fuzzer without coverage feedback.
//
// Thread-safety: one thread. The same seed results in the same inputs.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace backplane::fuzz {

class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> corpus) : random_(seed), corpus_(std::move(corpus)) {}

  // The next input: an input of the corpus with random changes.
  std::string next();

 private:
  using Change = void (Mutator::*)(std::string&);
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  void flip_bit(std::string& text);
  void set_byte(std::string& text);
  void insert_token(std::string& text);
  void erase_range(std::string& text);
  void repeat_range(std::string& text);
  void splice(std::string& text);
  void cut(std::string& text);

  std::mt19937_64 random_;
  std::vector<std::string> corpus_;
};

}  // namespace backplane::fuzz
