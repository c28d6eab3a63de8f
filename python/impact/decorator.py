"""Measures every call of a function."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast, overload

from impact.run import track

if TYPE_CHECKING:
    import os

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def tracked(function: Function) -> Function: ...
@overload
def tracked(
    function: None = None, *, out: str | os.PathLike[str] | None = None, **options: Any
) -> Callable[[Function], Function]: ...


def tracked(
    function: Callable[..., Any] | None = None, *, out: str | os.PathLike[str] | None = None, **options: Any
) -> Any:
    """Measures every call of a function as a run, named after the function. The options are those of `track`.

    Also for `async` functions and generators of both kinds, which are measured from their first step to their last.

    >>> @tracked(out="runs/decorated")
    ... def main(n):
    ...     return sum(range(n))
    >>> main(4)
    6
    """
    if function is None:
        return lambda function: tracked(function, out=out, **options)
    options.setdefault("name", getattr(function, "__qualname__", None))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def of_coroutine(*args: Any, **kwargs: Any) -> Any:
            with track(out, **options):
                return await cast("Any", function)(*args, **kwargs)

        return of_coroutine

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def of_async_generator(*args: Any, **kwargs: Any) -> Any:
            with track(out, **options):
                async for value in function(*args, **kwargs):
                    yield value

        return of_async_generator

    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def of_generator(*args: Any, **kwargs: Any) -> Any:
            with track(out, **options):
                return (yield from function(*args, **kwargs))

        return of_generator

    @functools.wraps(function)
    def of_function(*args: Any, **kwargs: Any) -> Any:
        with track(out, **options):
            return function(*args, **kwargs)

    return of_function
