# The grader for the command line, on any machine that runs Linux containers: no GPU is needed.
# compose.yaml makes the image of the server, with the extras `server` and `postgres`.
#
#   docker build -t grader .
#   docker run --rm -v "$PWD:/work" grader transpose my_transpose.cu
ARG BASE=debian:bookworm-slim
FROM ${BASE}

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv g++ ca-certificates \
    && rm -rf /var/lib/apt/lists/*

# Extras such as `[server,postgres]`.
ARG EXTRAS=
COPY . /src
RUN python3 -m venv /opt/grader \
    && /opt/grader/bin/pip install --no-cache-dir "/src${EXTRAS}" \
    && rm -rf /src

ENV PATH=/opt/grader/bin:$PATH XDG_CACHE_HOME=/cache
# The first grading compiles the native code of the emulated device; every user may use it.
RUN mkdir /cache && cd /tmp && grade start transpose \
    && { grade transpose transpose.cu --no-model > grading.txt || [ $? -eq 1 ]; } \
    && chmod -R a+rwX /cache && rm transpose.cu grading.txt && mkdir -m 1777 /data

WORKDIR /work
ENTRYPOINT ["grade"]
