// An array of structs of seven floats: all are read, three of them are written in place.
// run: --size n=1048576 --output particles=normal:7*n --scalar dt=0.01
// run: --size n=8388608 --output particles=normal:7*n --scalar dt=0.01
// launch: particles<<<ceil_div(n, 256), 256>>>(particles, dt, n)

struct Particle {
    float x, y, z, vx, vy, vz, mass;
};

__global__ void particles(Particle* p, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float step = dt / (1.0f + p[i].mass * p[i].mass);
    p[i].x += step * p[i].vx;
    p[i].y += step * p[i].vy;
    p[i].z += step * p[i].vz;
}
