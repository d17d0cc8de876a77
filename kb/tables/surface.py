"""The surface of one release of a package: its modules, names, signatures, and the imports that it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

FORM = 1
"""The version of the cached form. Increase it when the form changes, so that old caches are not read."""


@dataclass(frozen=True)
class Signature:
    """The names a callable takes as keywords."""

    parameters: tuple[str, ...] = ()
    catch_all: bool = False
    taken: tuple[str, ...] = ()
    """Names that the body takes out of **kwargs by hand, and old names that a decorator still accepts."""


@dataclass
class ClassSurface:
    """A class: its bases as written (dotted), its own dataclass fields and its own public methods."""

    bases: list[str] = field(default_factory=list)
    dataclass: bool = False
    fields: list[str] = field(default_factory=list)
    methods: dict[str, Signature] = field(default_factory=dict)


@dataclass
class ModuleSurface:
    """One module.  `names` maps each bound name to where it comes from: "" (here) or "module:name"."""

    path: str = ""
    names: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    exported: list[str] | None = None
    dynamic: bool = False
    shallow: bool = False
    functions: dict[str, Signature] = field(default_factory=dict)
    classes: dict[str, ClassSurface] = field(default_factory=dict)
    needs: list[tuple[str, str]] = field(default_factory=list)
    """Imports of other packages at the top level, outside `if` and `try`: (module, name or "")."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Modules that this one registers under a second name."""


@dataclass
class Surface:
    """One release."""

    package: str
    version: str
    modules: dict[str, ModuleSurface] = field(default_factory=dict)
    requires: list[str] = field(default_factory=list)
    model_types: dict[str, str] = field(default_factory=dict)
    """transformers only: model type -> configuration class, from the auto mapping."""

    def resolve(self, module: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> tuple[str, str] | None:
        """Where a name that can be imported from `module` is defined, as far as this package shows it."""
        found = self.modules.get(module)
        if found is None or (module, name) in seen:
            return None
        seen = seen | {(module, name)}
        origin = found.names.get(name)
        if origin == "":
            return module, name
        if origin is not None:
            source, _, original = origin.partition(":")
            if not original:
                return source, ""
            return self.resolve(source, original, seen) or (source, original)
        for star in found.stars:
            target = self.modules.get(star)
            if target is None or (target.exported is not None and name not in target.exported):
                continue
            if target.exported is None and name.startswith("_"):
                continue
            there = self.resolve(star, name, seen)
            if there is not None:
                return there
        return None

    def names_of(self, module: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """Every name that `from module import …` can find, star imports included."""
        found = self.modules.get(module)
        if found is None or module in seen:
            return set()
        names = set(found.names)
        for star in found.stars:
            target = self.modules.get(star)
            if target is None:
                continue
            offered = self.names_of(star, seen | {module})
            if target.exported is not None:
                names.update(name for name in target.exported if name in offered or target.shallow)
            else:
                names.update(name for name in offered if not name.startswith("_"))
        return names

    def offers(self, module: str, name: str, cache: dict[str, set[str]]) -> bool | None:
        """Whether `from module import name` works (None: the module decides at run time)."""
        found = self.modules.get(module)
        if found is None:
            return False
        if not name:
            return True
        if f"{module}.{name}" in self.modules:
            return True
        if module not in cache:
            cache[module] = self.names_of(module)
        if name in cache[module]:
            return True
        return None if found.dynamic else False
