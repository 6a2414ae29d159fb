#include "naming.hpp"

#include <algorithm>

#include "backplane/core/status.hpp"

namespace backplane::apiextensions {
namespace {

void copy_text(Object& to, std::string_view key, std::string_view text) {
  if (text.empty())
    erase_member(to, key);
  else
    to[key] = text;
}

void copy_member(Object& to, const Object& from, std::string_view key) {
  if (const Value* value = find(from, key))
    to[key] = *value;
  else
    erase_member(to, key);
}

// Accepts one name, or sets the reason for the refusal in the condition.
struct Acceptor {
  const Object& wanted;
  Object& accepted;
  Condition& condition;

  bool free(std::string_view name, std::string_view own, const TakenNames::Counts& taken, std::string_view reason) {
    if (name == own || !taken.contains(std::string(name))) return true;
    refuse(reason, quoted(name) + " is already in use");
    return false;
  }
  void refuse(std::string_view reason, std::string message) {
    condition.status = "False";
    condition.reason = reason;
    condition.message = std::move(message);
  }
  void take(std::string_view key, const TakenNames::Counts& taken, std::string_view reason) {
    const std::string_view name = get_string(wanted, key);
    if (free(name, get_string(accepted, key), taken, reason)) copy_text(accepted, key, name);
  }
  void take_short_names(const TakenNames::Counts& taken) {
    const std::vector<std::string> own = texts(accepted, "shortNames");
    std::vector<std::string> problems;
    for (const std::string& name : texts(wanted, "shortNames")) {
      const bool ours = std::find(own.begin(), own.end(), name) != own.end();
      if (!ours && taken.contains(name)) problems.push_back(quoted(name) + " is already in use");
    }
    if (problems.empty()) {
      copy_member(accepted, wanted, "shortNames");
      return;
    }
    std::string message = problems.front();
    for (std::size_t i = 1; i < problems.size(); ++i) message += ", " + problems[i];
    refuse("ShortNamesConflict", problems.size() == 1 ? message : "[" + message + "]");
  }
};

bool same_list(const Object& a, const Object& b, std::string_view key) { return texts(a, key) == texts(b, key); }

}  // namespace

GivenNames given_names(const Object& crd) {
  GivenNames out;
  const Object& names = accepted_names_of(crd);
  const auto note = [&names](std::vector<std::string>& to, std::string_view key) {
    const std::string_view name = get_string(names, key);
    if (!name.empty()) to.emplace_back(name);
  };
  note(out.resources, "plural");
  note(out.resources, "singular");
  for (std::string& name : texts(names, "shortNames")) out.resources.push_back(std::move(name));
  note(out.kinds, "kind");
  note(out.kinds, "listKind");
  return out;
}

void TakenNames::add(const GivenNames& names) {
  for (const std::string& name : names.resources) ++resources_[name];
  for (const std::string& name : names.kinds) ++kinds_[name];
}

void TakenNames::remove(const GivenNames& names) {
  const auto release = [](Counts& counts, const std::string& name) {
    const auto found = counts.find(name);
    if (found != counts.end() && --found->second <= 0) counts.erase(found);
  };
  for (const std::string& name : names.resources) release(resources_, name);
  for (const std::string& name : names.kinds) release(kinds_, name);
}

NamingResult accept_names(const Object& crd, const TakenNames& taken) {
  NamingResult result;
  result.accepted = Object(accepted_names_of(crd), json::storage_ptr());
  result.accepted_condition = {"NamesAccepted", "Unknown", "", ""};
  const Object& wanted = names_of(crd);
  Acceptor acceptor{wanted, result.accepted, result.accepted_condition};
  acceptor.take("plural", taken.resources(), "PluralConflict");
  acceptor.take("singular", taken.resources(), "SingularConflict");
  if (!same_list(wanted, result.accepted, "shortNames")) acceptor.take_short_names(taken.resources());
  acceptor.take("kind", taken.kinds(), "KindConflict");
  acceptor.take("listKind", taken.kinds(), "ListKindConflict");
  copy_member(result.accepted, wanted, "categories");
  if (result.accepted_condition.status == "Unknown") {
    result.accepted_condition = {"NamesAccepted", "True", "NoConflicts", "no conflicts found"};
  }
  return result;
}

bool names_are_accepted(const Object& crd) {
  const Object& wanted = names_of(crd);
  const Object& accepted = accepted_names_of(crd);
  for (std::string_view key : {"plural", "singular", "kind", "listKind"}) {
    if (get_string(wanted, key) != get_string(accepted, key)) return false;
  }
  return same_list(wanted, accepted, "shortNames") && same_list(wanted, accepted, "categories");
}

}  // namespace backplane::apiextensions
