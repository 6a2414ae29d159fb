// Objects of a resource from the version they are stored in to another, and back: conversion strategy None, which changes apiVersion and
// lets each version's schema prune and default.
//
// Thread-safety: immutable; any thread.
// Lifetime:      shares the resource.
// Errors:        kInternalError when a stored object is beyond the schema.
#pragma once

#include <memory>

#include "backplane/object.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

class Converter {
 public:
  // Entries up to `refresh_until` were stored before the definition was last changed: they are read through the schema anew.
  Converter(std::shared_ptr<const CustomResource> resource, const CustomVersion& version, Revision refresh_until);

  const CustomResource& resource() const noexcept { return *resource_; }
  const CustomVersion& version() const noexcept { return version_; }

  // The entry as this version shows it; the same entry when it is in this form already.
  Result<ObjectRef> shown(ObjectRef entry) const;
  bool is_shown(const ObjectEntry& entry) const noexcept;
  Result<ObjectRef> converted(const ObjectEntry& entry) const;
  // A bookmark: only its apiVersion changes.
  ObjectRef bookmark(const ObjectEntry& entry) const;

  // In place, into this version (pruned, with defaults) and into the stored one (pruned).
  Status to_version(Object& object) const;
  Status to_stored(Object& object) const;

 private:
  std::shared_ptr<const CustomResource> resource_;
  const CustomVersion& version_;
  Revision refresh_until_;
  std::string head_;  // what JSON of this version begins with
};

}  // namespace backplane::apiextensions
