"""The same JSON API for uvicorn, whose requests wait for the database without a thread each."""

import json
import os

import asyncpg

SQL = """with item as (select id, name, cents from items where id = $1::int),
written as (insert into orders (item, pieces) select id, $2::int from item)
select name, cents * $2::int as total from item"""
STATE = {}


async def live(receive, send):
    await receive()
    STATE["pool"] = await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=4, max_size=8)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await STATE["pool"].close()
    await send({"type": "lifespan.shutdown.complete"})


async def whole_body(receive):
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def answer(scope, receive):
    route = scope["method"], scope["path"]
    if route == ("GET", "/health"):
        return 200, {}
    if route != ("POST", "/orders"):
        return 404, {}
    order = json.loads(await whole_body(receive))
    row = await STATE["pool"].fetchrow(SQL, order["item"], order["pieces"])
    return 201, {"name": row["name"], "total": row["total"]}


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    status, document = await answer(scope, receive)
    body = json.dumps(document).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
