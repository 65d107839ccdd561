# An image that runs releases: docker build -t anon-pipeline .
# Its commands are run one by one, without a container engine, by `python -m benchmarks.image`.
FROM python:3.11-slim

# A user without rights: the code, its compiled kernels and the packages are not writable for others.
RUN useradd --create-home --uid 10001 pipeline
WORKDIR /app
COPY pyproject.toml constraints.txt README.md CHANGELOG.md ./
COPY anon_pipeline ./anon_pipeline
RUN python -m venv /app/venv
RUN /app/venv/bin/pip install --no-cache-dir --constraint constraints.txt .

# Kernels are compiled for this kind of processor; on another one the first run compiles again.
ENV NUMBA_CACHE_DIR=/app/kernels DAGSTER_DISABLE_TELEMETRY=yes PATH=/app/venv/bin:$PATH
RUN install --directory --mode 0700 --owner pipeline /app/kernels /data
USER pipeline
RUN anon-pipeline warmup

# Mount the project (policies, sources, vault, ledger, releases) at /data.
WORKDIR /data
RUN anon-pipeline doctor
ENTRYPOINT ["anon-pipeline"]
CMD ["--help"]
