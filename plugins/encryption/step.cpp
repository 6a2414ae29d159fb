#include "step.hpp"

#include <algorithm>

#include "ciphers/cipher.hpp"

namespace backplane::encryption {
namespace {

constexpr std::string_view kEncrypted = "k8s:enc:";
constexpr std::size_t kOverhead = 96;  // bytes for nonce, tag and derived key

class IdentityStep final : public Step {
 public:
  std::optional<Outcome<ReadValue>> read_now(std::string_view, const SharedBytes& data) const override {
    if (data.view().starts_with(kEncrypted)) return Failure{"identity transformer tried to read encrypted data"};
    return ReadValue{data};
  }
  std::optional<Outcome<SharedBytes>> write_now(std::string_view, const SharedBytes& plain, std::string_view) const override {
    return plain;
  }
};

class CipherStep final : public Step {
 public:
  explicit CipherStep(CipherRef cipher) : cipher_(std::move(cipher)) {}

  std::optional<Outcome<ReadValue>> read_now(std::string_view bound_to, const SharedBytes& data) const override {
    auto opened = cipher_->open(data.view(), bound_to);
    if (!opened.ok()) return opened.take_failure();
    return ReadValue{SharedBytes(std::move(*opened))};
  }
  std::optional<Outcome<SharedBytes>> write_now(std::string_view bound_to, const SharedBytes& plain,
                                                std::string_view prefix) const override {
    std::string out;
    out.reserve(prefix.size() + plain.size() + kOverhead);
    out.append(prefix);
    auto sealed = cipher_->seal(plain.view(), bound_to, out);
    if (!sealed.ok()) return sealed.take_failure();
    return SharedBytes(std::move(out));
  }

 private:
  const CipherRef cipher_;
};

std::string with(std::string_view prefix, std::string_view own) {
  std::string out;
  out.reserve(prefix.size() + own.size());
  return out.append(prefix).append(own);
}

}  // namespace

Task<Outcome<ReadValue>> Step::read(std::string bound_to, SharedBytes data) const { co_return *read_now(bound_to, data); }

Task<Outcome<SharedBytes>> Step::write(std::string bound_to, SharedBytes plain, std::string prefix) const {
  co_return *write_now(bound_to, plain, prefix);
}

StepRef identity_step() { return std::make_shared<IdentityStep>(); }
StepRef cipher_step(CipherRef cipher) { return std::make_shared<CipherStep>(std::move(cipher)); }

std::string joined_errors(const std::vector<Failure>& errors) {
  std::vector<std::string_view> texts;
  for (const Failure& error : errors) {
    if (std::find(texts.begin(), texts.end(), error.text) == texts.end()) texts.push_back(error.text);
  }
  std::string out;
  for (const std::string_view text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return texts.size() > 1 ? "[" + out + "]" : out;
}

struct PrefixChoice::Entry {
  Entry(std::string_view resource, PrefixedStep given)
      : prefix(std::move(given.prefix)),
        step(std::move(given.step)),
        reads(std::string(resource), Direction::kFromStorage, prefix.empty() ? "identity" : prefix),
        writes(std::string(resource), Direction::kToStorage, prefix) {}

  const std::string prefix;
  const StepRef step;
  const TransformationCount reads, writes;
};

// The attempts to read one value.
class PrefixChoice::Reading {
 public:
  Reading(const PrefixChoice& choice, std::string_view data) : choice_(choice), data_(data) {}

  // Returns the next entry that has the value's prefix; null: there is none.
  const Entry* next() {
    while (at_ < choice_.entries_.size()) {
      const Entry& entry = *choice_.entries_[at_++];
      if (data_.starts_with(entry.prefix)) return &entry;
    }
    return nullptr;
  }
  // Returns the value if the entry could read it. Otherwise records the error.
  std::optional<Outcome<ReadValue>> take(const Entry& entry, Outcome<ReadValue> outcome) {
    if (outcome.ok()) {
      entry.reads.succeeded(std::chrono::steady_clock::now() - begin_);
      outcome->stale = outcome->stale || at_ != 1;
      return outcome;
    }
    // An encrypted value is not an error of the identity step: the entry that follows may read it.
    if (entry.prefix.empty()) return std::nullopt;
    entry.reads.failed(outcome.failure());
    errors_.push_back(outcome.take_failure());
    return std::nullopt;
  }
  Outcome<ReadValue> end() const {
    if (errors_.size() == 1) return errors_.front();
    if (!errors_.empty()) return Failure{joined_errors(errors_)};
    const Failure failure{choice_.no_match_};
    choice_.unknown_.failed(failure);
    return failure;
  }

 private:
  const PrefixChoice& choice_;
  const std::string_view data_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t at_ = 0;
  std::vector<Failure> errors_;
};

PrefixChoice::PrefixChoice(std::string_view resource, std::string no_match, std::vector<PrefixedStep> steps)
    : no_match_(std::move(no_match)), unknown_(std::string(resource), Direction::kFromStorage, "unknown") {
  for (PrefixedStep& each : steps) entries_.push_back(std::make_unique<const Entry>(resource, std::move(each)));
}

PrefixChoice::~PrefixChoice() = default;

std::optional<Outcome<ReadValue>> PrefixChoice::read_now(std::string_view bound_to, const SharedBytes& data) const {
  Reading reading(*this, data.view());
  while (const Entry* entry = reading.next()) {
    auto outcome = entry->step->read_now(bound_to, data.slice(entry->prefix.size()));
    if (!outcome) return std::nullopt;
    if (auto value = reading.take(*entry, std::move(*outcome))) return value;
  }
  return reading.end();
}

Task<Outcome<ReadValue>> PrefixChoice::read(std::string bound_to, SharedBytes data) const {
  Reading reading(*this, data.view());
  while (const Entry* entry = reading.next()) {
    auto attempt = entry->step->read(bound_to, data.slice(entry->prefix.size()));
    auto outcome = co_await std::move(attempt);
    if (auto value = reading.take(*entry, std::move(outcome))) co_return std::move(*value);
  }
  co_return reading.end();
}

Outcome<SharedBytes> PrefixChoice::written(Outcome<SharedBytes> outcome, std::chrono::steady_clock::time_point begin) const {
  const TransformationCount& writes = entries_.front()->writes;
  if (outcome.ok()) {
    writes.succeeded(std::chrono::steady_clock::now() - begin);
  } else {
    writes.failed(outcome.failure());
  }
  return outcome;
}

std::optional<Outcome<SharedBytes>> PrefixChoice::write_now(std::string_view bound_to, const SharedBytes& plain,
                                                            std::string_view prefix) const {
  const auto begin = std::chrono::steady_clock::now();
  const Entry& first = *entries_.front();
  auto outcome = first.step->write_now(bound_to, plain, with(prefix, first.prefix));
  if (!outcome) return std::nullopt;
  return written(std::move(*outcome), begin);
}

Task<Outcome<SharedBytes>> PrefixChoice::write(std::string bound_to, SharedBytes plain, std::string prefix) const {
  const auto begin = std::chrono::steady_clock::now();
  const Entry& first = *entries_.front();
  auto writing = first.step->write(std::move(bound_to), std::move(plain), with(prefix, first.prefix));
  auto outcome = co_await std::move(writing);
  co_return written(std::move(outcome), begin);
}

}  // namespace backplane::encryption
