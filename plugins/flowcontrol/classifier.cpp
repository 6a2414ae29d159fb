#include "classifier.hpp"

#include <bit>

namespace backplane::flowcontrol {
namespace {
constexpr std::size_t kBits = 64;
}  // namespace

Classifier::Classifier(std::vector<FlowSchema> schemas) : schemas_(std::move(schemas)) {
  for (std::size_t i = 0; i < schemas_.size(); ++i) {
    for (const FlowRule& rule : schemas_[i].rules) {
      Row row{i, 0, false, rule};
      for (const Subject& subject : rule.subjects) {
        const std::size_t number = number_of(subject);
        row.more = row.more || number >= kBits;
        if (number < kBits) row.subjects |= std::uint64_t{1} << number;
      }
      rows_.push_back(std::move(row));
    }
  }
}

std::size_t Classifier::number_of(const Subject& subject) {
  const auto found = std::find(subjects_.begin(), subjects_.end(), subject);
  const auto number = static_cast<std::size_t>(found - subjects_.begin());
  if (found == subjects_.end() && number < kBits) subjects_.push_back(subject);
  return number;
}

// True if the user is one of `subjects`.
bool Classifier::is_one(std::uint64_t subjects, const UserInfo& user, Known& known) const noexcept {
  if ((subjects & known.is) != 0) return true;
  for (std::uint64_t rest = subjects & ~known.asked; rest != 0; rest &= rest - 1) {
    const std::uint64_t bit = rest & ~(rest - 1);
    known.asked |= bit;
    if (!subjects_[static_cast<std::size_t>(std::countr_zero(bit))].is(user)) continue;
    known.is |= bit;
    return true;
  }
  return false;
}

std::size_t Classifier::find(const UserInfo& user, const RequestInfo& info) const noexcept {
  Known known;
  for (const Row& row : rows_) {
    const bool named = is_one(row.subjects, user, known) || (row.more && row.rule.is_for(user));
    if (named && row.rule.is_about(info)) return row.schema;
  }
  return schemas_.empty() ? 0 : schemas_.size() - 1;
}

}  // namespace backplane::flowcontrol
