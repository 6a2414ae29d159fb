// The cached atoms of definitions.
#include "fields/form.hpp"

namespace backplane::schema {

const fields::Atom& Type::make_merge_atom() const {
  const std::lock_guard lock(set_->mutex);
  if (const fields::Atom* done = merge_atom_.load(std::memory_order_acquire)) return *done;
  const fields::Atom* made = keep(fields::read_atom(*this));
  merge_atom_.store(made, std::memory_order_release);
  return *made;
}

const fields::Atom* Type::keep(std::unique_ptr<const fields::Atom> atom) const {
  set_->merge_atoms.emplace_back(std::move(atom));
  return set_->merge_atoms.back().get();
}

}  // namespace backplane::schema
