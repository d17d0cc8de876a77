"""`dataclasses`, as far as the way from a log to its report uses it, but cheap to import and to make.

That way makes some twenty classes at each start. The standard library's decorator compiles several methods for each and
imports `inspect`. This one compiles the constructor only. Type checkers see the real `dataclasses`, and so do programs that
ask one of these classes for its fields (`dataclasses.asdict`, `dataclasses.fields`, Pydantic).
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which need not be imported for it

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field
else:

    class _Field:
        __slots__ = ("compare", "default", "factory", "repr")

        def __init__(self, default, factory, repr_, compare):
            self.default, self.factory, self.repr, self.compare = default, factory, repr_, compare

    _NONE = object()

    def field(*, default=_NONE, default_factory=_NONE, repr=True, compare=True):
        """What `dataclasses.field` takes of these."""
        return _Field(default, default_factory, repr, compare)

    class _Params:
        """What pytest asks of a dataclass that differs from another."""

        repr = eq = init = True

    class _Fields:
        """The fields as `dataclasses` has them, made when they are asked for."""

        def __init__(self, given):
            self._given = given

        def __get__(self, thing, owner):
            import dataclasses

            fields = []
            for name, default, factory, shown, compared in self._given:
                value = {"default": default} if default is not _NONE else {}
                if factory is not _NONE:
                    value = {"default_factory": factory}
                fields.append(
                    (name, owner.__annotations__[name], dataclasses.field(**value, repr=shown, compare=compared))
                )
            return dataclasses.make_dataclass(owner.__name__, fields).__dataclass_fields__

    def dataclass(*, slots=False, frozen=False):
        """A class decorator; only classes with slots and without bases are made."""
        if not slots:
            raise TypeError("lean.dataclass makes classes with slots; expected @dataclass(slots=True)")

        def make(cls):
            names = tuple(cls.__annotations__)
            space = dict(cls.__dict__)
            space.pop("__dict__", None)
            space.pop("__weakref__", None)
            given, known, body, fields = [], {}, [], []
            put = "_put(self, {0!r}, {1})" if frozen else "self.{0} = {1}"
            for name in names:
                default = space.pop(name, _NONE)
                is_field = isinstance(default, _Field)
                shown = not is_field or default.repr
                compared = not is_field or default.compare
                factory = default.factory if is_field else _NONE
                if is_field:
                    default = default.default
                fields.append((name, default, factory, shown, compared))
                value = name
                if factory is not _NONE:
                    known[f"_make_{name}"], default = factory, _NONE
                    given.append(f"{name}=_none")
                    value = f"_make_{name}() if {name} is _none else {name}"
                elif default is not _NONE:
                    known[f"_default_{name}"] = default
                    given.append(f"{name}=_default_{name}")
                else:
                    given.append(name)
                body.append(put.format(name, value))
            source = f"def __init__(self, {', '.join(given)}):\n " + "\n ".join(body)
            known.update(_none=_NONE, _put=object.__setattr__)
            exec(source, known)
            values = _values([f[0] for f in fields if f[4]])
            space.setdefault("__repr__", _repr([f[0] for f in fields if f[3]]))
            space.update(
                __slots__=names, __init__=known["__init__"],
                __eq__=_equal(values), __hash__=None, __dataclass_fields__=_Fields(fields), __dataclass_params__=_Params,
            )  # fmt: skip
            if frozen:
                space.update(__hash__=_hash(values), __setattr__=_refused, __delattr__=_refused)
            return type(cls)(cls.__name__, cls.__bases__, space)

        return make

    def _repr(names):
        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"

        return __repr__

    def _values(names):
        return lambda thing: tuple(getattr(thing, name) for name in names)

    def _equal(values):
        def __eq__(self, other):
            return values(self) == values(other) if type(other) is type(self) else NotImplemented

        return __eq__

    def _hash(values):
        return lambda self: hash(values(self))

    def _refused(self, *_):
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def asdict(thing):
        """Nested objects, lists and dicts as new dicts and lists."""
        if isinstance(type(thing).__dict__.get("__dataclass_fields__"), _Fields):
            return {name: asdict(getattr(thing, name)) for name in thing.__slots__}
        if isinstance(thing, dict):
            return {key: asdict(value) for key, value in thing.items()}
        if isinstance(thing, (list, tuple)):
            return [asdict(value) for value in thing]
        return thing


__all__ = ["asdict", "dataclass", "field"]
